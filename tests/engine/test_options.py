import pytest

from obscuro.belief.posterior import MOST_WEIGHTED
from obscuro.engine.options import (
    OPTIONS,
    SEARCH_KEYS,
    WEIGHTED_POSITIONS,
    OptionError,
    Options,
    text_of,
)
from obscuro.uci.printing import LONGEST_MESSAGE

from .given_options import DEFAULTS


def test_every_option_declares_itself_and_takes_its_own_default():
    for option in OPTIONS:
        assert option.uci().startswith(f"option name {option.name} type {option.kind} default ")
        assert option.parse(text_of(option.default) or "<empty>") == option.default
    for key in SEARCH_KEYS:
        assert key.parse(text_of(key.default)) == key.default


def test_a_user_sees_fifteen_options():
    assert len(OPTIONS) == 15
    assert OPTIONS[-1].uci() == "option name Search type string default <empty>"


def test_by_default_a_belief_is_not_too_large_for_weights():
    assert Options().integer("Max Positions") <= WEIGHTED_POSITIONS == MOST_WEIGHTED


def test_names_are_case_insensitive_and_values_keep_their_type():
    options = Options()
    assert options.set("max positions", "5000") == "Max Positions"
    assert options.integer("Max Positions") == 5000
    options.set("EVALUATOR", "Material")
    assert options.text("Evaluator") == "material"
    options.set("Search", " One_Sided = FALSE , puct_c=1.25")
    assert options.flag("one_sided") is False
    assert options.number("puct_c") == 1.25


def test_search_has_the_keys_that_are_given_and_defaults_of_the_others():
    options = Options()
    options.set("Search", "unfrozen=false,tau=4,puct_c=1.0")
    assert options.get("Search") == "tau=4.0,unfrozen=false", "in the table's order, no defaults"
    options.set("Search", "soft_root=0.5")
    assert options.get("Search") == "soft_root=0.5"
    for empty in ("", "<empty>"):
        options.set("Search", empty)
        assert options.get("Search") == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Threads", "0"),
        ("Threads", "many"),
        ("Hash", "-5"),
        ("Hash", "99999999999999"),
        ("Evaluator", "oracle"),
        ("No Such", "1"),
        ("", ""),
    ],
)
def test_a_bad_name_or_value_says_so_and_changes_nothing(name, value):
    options = Options()
    with pytest.raises(OptionError) as error:
        options.set(name, value)
    assert "\n" not in str(error.value)
    assert all(options.get(option.name) == option.default for option in OPTIONS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("purification=maybe", "purification must be true or false, not 'maybe'"),
        ("puct_c=x", "puct_c must be a number"),
        ("puct_c=-1", "puct_c must be between 0 and 100"),
        ("puct_c=nan", "puct_c must be between 0 and 100"),
        ("max_support=1.5", "max_support must be a whole number"),
        ("sampling=best", "sampling must be one of uniform, diversity"),
        ("unfrozen", "unfrozen needs a value, as in unfrozen=true"),
        ("unfrozen=false,unfrozen=true", "unfrozen is given twice"),
        ("oracle=1", "has no key 'oracle'; it has eval_cache, tau, "),
        ("tau=6,,unfrozen=true", "has no key ''"),
    ],
)
def test_a_bad_key_of_search_is_one_line_that_names_it_and_what_is_allowed(text, said):
    options = Options()
    options.set("Search", "tau=5")
    with pytest.raises(OptionError) as error:
        options.set("Search", f"puct_least_variance=0.5,{text}")
    assert said in str(error.value) and str(error.value).startswith("Search")
    assert len(str(error.value)) <= LONGEST_MESSAGE, "a longer line is cut"
    assert options.get("Search") == "tau=5.0"


@pytest.mark.parametrize("old", ["Puct C", "unfrozen", "Tau"])
def test_an_old_option_is_refused_with_its_key(old):
    key = old.lower().replace(" ", "_")
    with pytest.raises(OptionError, match=f"set {key} in the option Search"):
        Options().set(old, "1")


def test_the_search_takes_every_switch_of_the_paper():
    options = Options()
    switches = "purification=false,unfrozen=false,one_sided=false,resolve_prior=uniform"
    options.set(
        "Search",
        f"{switches},puct_c=2.5,puct_least_variance=0.07,min_infoset_size=17,max_support=2",
    )
    parameters = options.search_parameters()
    assert not (parameters.purification or parameters.unfrozen or parameters.one_sided)
    assert not parameters.mixed_prior
    assert (parameters.puct_c, parameters.puct_least_variance) == (2.5, 0.07)
    assert Options().search_parameters() == DEFAULTS
    assert (parameters.min_infoset_size, parameters.max_support) == (17, 2)


def test_a_copy_is_independent():
    options = Options()
    copy = options.copy()
    copy.set("Seed", "5")
    assert options.integer("Seed") == 0

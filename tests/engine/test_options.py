import pytest

from obscuro.engine.options import OPTIONS, OptionError, Options
from obscuro.search.parameters import SearchParameters


def test_every_option_declares_itself_and_takes_its_own_default():
    for option in OPTIONS:
        assert option.uci().startswith(f"option name {option.name} type {option.kind} default ")
        text = str(option.default).lower() if option.kind == "check" else str(option.default)
        assert option.parse(text or "<empty>") == option.default


def test_names_are_case_insensitive_and_values_keep_their_type():
    options = Options()
    assert options.set("max positions", "5000") == "Max Positions"
    assert options.integer("Max Positions") == 5000
    options.set("EVALUATOR", "Material")
    assert options.text("Evaluator") == "material"
    options.set("One Sided", "FALSE")
    assert options.flag("One Sided") is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Threads", "0"),
        ("Threads", "many"),
        ("Hash", "-5"),
        ("Hash", "99999999999999"),
        ("Evaluator", "oracle"),
        ("Purification", "maybe"),
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


def test_the_search_takes_every_switch_of_the_paper():
    options = Options()
    for name in ("Purification", "Unfrozen", "One Sided"):
        options.set(name, "false")
    options.set("Resolve Prior", "uniform")
    options.set("Puct C", "250")
    options.set("Puct Least Variance", "70")
    options.set("Min Infoset Size", "17")
    options.set("Max Support", "2")
    parameters = options.search_parameters()
    assert not (parameters.purification or parameters.unfrozen or parameters.one_sided)
    assert not parameters.mixed_prior
    assert (parameters.puct_c, parameters.puct_least_variance) == (2.5, 0.07)
    assert Options().search_parameters() == SearchParameters()
    assert (parameters.min_infoset_size, parameters.max_support) == (17, 2)


def test_a_copy_is_independent():
    options = Options()
    copy = options.copy()
    copy.set("Seed", "5")
    assert options.integer("Seed") == 0

"""The engine against a random player in PettingZoo, to which Shimmy brings `dark_chess`.

    python docs/examples/openspiel/pettingzoo_match.py --games 4 --nodes 500

The players change seats after every game. The last line has the engine's points.
"""

import argparse

import numpy as np
from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

from obscuro.client import Engine, Limit, engine_command
from obscuro.openspiel import DarkChessBot


def play(environment, bot, seed):
    """Play one game, and return the bot's result: 1, 0 or -1."""
    environment.reset(seed=seed)
    bot.restart()
    random = np.random.default_rng(seed)
    ours = environment.possible_agents[bot.player_id()]
    for agent in environment.agent_iter():
        _, _, terminated, truncated, info = environment.last()
        if terminated or truncated:
            action = None
        elif agent == ours:
            action = bot.step(environment.game_state)
        else:
            action = int(random.choice(np.flatnonzero(info["action_mask"])))
        environment.step(action)
    return environment.game_state.returns()[bot.player_id()]


def main():
    """Play the games that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--nodes", type=int, default=500, help="of each move")
    arguments = parser.parse_args()
    environment = OpenSpielCompatibilityV0(game_name="dark_chess")
    points = 0.0
    with Engine(engine_command(), {"Threads": "1"}) as engine:
        bots = [DarkChessBot(engine, seat, Limit(nodes=arguments.nodes)) for seat in (0, 1)]
        for number in range(arguments.games):
            bot = bots[number % 2]
            result = play(environment, bot, seed=number)
            plies = len(environment.game_state.history())
            print(
                f"game {number + 1}: the engine is player {bot.player_id()}, {plies} plies, {result:+g}"
            )
            points += (1 + result) / 2
    print(f"{points:g} of {arguments.games}")


if __name__ == "__main__":
    main()

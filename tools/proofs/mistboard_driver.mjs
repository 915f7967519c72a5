// Drives Mistboard's own code for tools/proofs/mistboard.py: `node --import tsx THIS CHECKOUT`.
// Reads one JSON task from stdin (so no token is on a command line), prints JSON lines.
//
// rules: plays random games and given lines, and prints what each side sees after each ply.
// match: plays a series between two engine services, and prints each game.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const checkout = process.argv[2];
const task = JSON.parse(readFileSync(0, 'utf8'));
const load = (path) => import(pathToFileURL(join(checkout, path)));
const say = (value) => console.log(JSON.stringify(value));

function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

function sights(rules, state) {
  const views = ['white', 'black'].map((side) => rules.getPlayerView(state, side));
  return {
    seen: views.map((view) => view.visibleSquares),
    pieces: views.map((view) => Object.keys(view.board).length),
    moves: state.status.type === 'playing' ? rules.getLegalMoves(state, state.status.turn) : [],
    status: state.status,
  };
}

async function playRules() {
  const game = await load('packages/game/src/variants.ts');
  const rules = game.darkChessVariant;
  const play = (fen, next) => {
    let state = fen ? game.parseDarkChessFen(fen).state : rules.createInitialState('rules');
    const played = { moves: [], plies: [sights(rules, state)] };
    while (state.status.type === 'playing' && played.moves.length < task.plies) {
      const move = next(rules.getLegalMoves(state, state.status.turn), played.moves.length);
      if (move === undefined) break;
      state = rules.applyMove(state, move);
      played.moves.push(state.lastMove);
      played.plies.push(sights(rules, state));
    }
    say(played);
  };
  for (const line of task.lines) play(line.fen, (moves, ply) => line.moves[ply]);
  for (let number = 0; number < task.games; number++) {
    const random = randomFrom(task.seed + number);
    play(null, (moves) => moves[random(moves.length)]);
  }
}

async function playMatch() {
  const server = 'apps/server/src/';
  const series = await load(`${server}bot-match/run-match.ts`);
  const { runArbiterGame } = await load(`${server}bot-match/arbiter.ts`);
  const { httpMoveProvider } = await load(`${server}bot-match/http-move-provider.ts`);
  const tell = (result, white) => say({
    white,
    winner: result.winner,
    outcome: result.outcome,
    detail: result.detail ?? null,
    game: result.gameId,
    moves: result.events.filter((event) => event.type === 'move-played').map((e) => e.move),
  });
  const engines = Object.fromEntries(['a', 'b'].map((name) => [name, {
    label: name,
    engineId: name,
    endpoint: { baseUrl: task[name].url, token: task[name].token },
  }]));
  const common = {
    engineSecret: 'proof',
    timeControl: task.clock,
    timePolicy: task.policy,
    maxPlies: task.plies,
    untimedBudgetMs: task.budget,
  };
  if (!task.deltas) {
    await series.runBotMatchSeries({
      ...common, ...engines, games: task.games, gameIdPrefix: task.name,
      persistDir: null, manageReservations: true,
      onGameEnd: (index, result, white) => tell(result, white),
    });
    return;
  }
  // Only the last observation of each turn, and no pushes: what a server may also send.
  const seat = ({ endpoint, engineId }) => {
    const provider = httpMoveProvider(endpoint);
    return { engineId, provider: (request, context) => {
      const { observationTranscript: all, ...rest } = request;
      return provider({ ...rest, latestObservationDelta: all[all.length - 1] }, context);
    } };
  };
  for (let game = 0; game < task.games; game++) {
    const [white, black] = game % 2 ? ['b', 'a'] : ['a', 'b'];
    tell(await runArbiterGame({
      ...common, gameId: `${task.name}-${game}`,
      white: seat(engines[white]), black: seat(engines[black]),
    }), white);
  }
}

await (task.mode === 'rules' ? playRules() : playMatch());

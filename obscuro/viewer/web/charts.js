// Turns a game into the charts under its boards. A chart that would be empty is left out.

import { countText, moveName, pawnsText, pointsLost, shareText, sideName } from "obscuro/game.js";

/**
 * @typedef {import("obscuro/game.js").Game} Game
 * @typedef {import("obscuro/game.js").Move} Move
 * @typedef {import("obscuro/game.js").Side} Side
 * @typedef {import("obscuro/curves.js").Chart} Chart
 * @typedef {import("obscuro/curves.js").Point} Point
 * @typedef {import("obscuro/curves.js").Line} Line
 */

/** @type {Side[]} */
const SIDES = ["white", "black"];
const EVERY_PLY = 1;
const OWN_TURNS = 2;

/**
 * @param {Game} game
 * @param {(ply: number) => void} onPick
 * @returns {Chart[]}
 */
export function chartsOf(game, onPick) {
  const common = { plies: game.positions.length - 1, onPick };
  return [evaluation(game), beliefs(game), coverage(game), time(game)]
    .filter((chart) => chart.lines.some((line) => line.points.length))
    .map((chart) => ({ ...common, ...chart }));
}

/**
 * @param {(side: Side) => Point[]} pointsOf
 * @returns {Line[]}
 */
function bothSides(pointsOf) {
  return SIDES.map((side) => ({ name: sideName(side), className: side, points: pointsOf(side) }));
}

/**
 * One point for each of a side's moves of which something is known, at the ply before the move.
 * @param {Game} game
 * @param {Side} side
 * @param {(move: Move) => Omit<Point, "ply"> | null} read
 * @returns {Point[]}
 */
function ofMoves(game, side, read) {
  return game.moves.flatMap((move, ply) => {
    const point = move.mover === side ? read(move) : null;
    return point ? [{ ply, ...point }] : [];
  });
}

/** @param {Game} game */
function evaluation(game) {
  /** @param {number} pawns */
  const height = (pawns) => Math.tanh(pawns / game.tau);
  return {
    title: "Evaluation, in pawns for White",
    lines: bothSides((side) =>
      ofMoves(game, side, (move) => {
        const pawns = pawnsOf(move);
        return pawns === null
          ? null
          : { value: height(pawns), hollow: false, text: pawnsText(pawns) };
      }),
    ),
    marks: game.moves.flatMap((move, ply) => {
      const pawns = pawnsOf(move);
      return move.loss && pawns !== null
        ? [{ ply, value: height(pawns), text: lossText(move) }]
        : [];
    }),
    ticks: [-12, -6, -3, 0, 3, 6, 12].map((pawns) => ({
      value: height(pawns),
      text: pawns < 0 ? `−${-pawns}` : pawns ? `+${pawns}` : "0",
    })),
    low: -1,
    high: 1,
    gap: OWN_TURNS,
  };
}

/**
 * The mover's own evaluation; where it made none, the analysing engine's.
 * @param {Move} move
 */
function pawnsOf(move) {
  return move.pawns ?? move.advice?.pawns ?? null;
}

/** @param {Move} move */
export function lossText(move) {
  return move.loss ? `${moveName(move)} lost ${pointsLost(move.loss)} points of 100` : "";
}

/** @param {Game} game */
function beliefs(game) {
  const lines = bothSides((side) =>
    game.positions.flatMap((position, ply) => {
      const belief = position[side].belief;
      if (!belief) return [];
      const text = `${countText(belief.size)}${belief.exact ? "" : " (sample)"}`;
      return [{ ply, value: Math.log10(belief.size), hollow: !belief.exact, text }];
    }),
  );
  const most = Math.max(0, ...lines.flatMap((line) => line.points.map((point) => point.value)));
  const high = Math.max(1, Math.ceil(most));
  const ticks = Array.from({ length: high + 1 }, (_, power) => ({
    value: power,
    text: ["1", "10", "100", "1 k", "10 k", "100 k", "1 M", "10 M"][power] ?? `10^${power}`,
  }));
  const title = "|P|: positions held possible";
  return { title, lines, marks: [], ticks, low: 0, high, gap: EVERY_PLY };
}

/** @param {Game} game */
function coverage(game) {
  const LEAST = -4; // 0.01 %; what weighs nothing is drawn there too
  return {
    title: "Coverage: weight of the true position",
    lines: bothSides((side) =>
      ofMoves(game, side, (move) => {
        const found = move.coverage ?? move.advice?.coverage;
        if (!found) return null;
        const weight = found.weight ?? 0;
        return {
          value: weight > 0 ? Math.max(LEAST, Math.log10(weight)) : LEAST,
          hollow: found.infoset === false || found.expanded === false,
          text: coverageText(found),
        };
      }),
    ),
    marks: [],
    ticks: [-4, -3, -2, -1, 0].map((power) => ({
      value: power,
      text: `${Number((100 * 10 ** power).toPrecision(1))} %`,
    })),
    low: LEAST,
    high: 0,
    gap: OWN_TURNS,
  };
}

/** @param {import("obscuro/game.js").Coverage} coverage */
export function coverageText(coverage) {
  if (coverage.belief === false) return "not in P";
  if (coverage.infoset === false) return "not searched";
  const weight = coverage.weight === null ? "" : `${weightText(coverage.weight)}`;
  const expanded = coverage.expanded === false ? "not expanded" : "";
  return [weight, expanded].filter(Boolean).join(", ") || "searched";
}

/** @param {number} weight in [0, 1] */
function weightText(weight) {
  const percent = 100 * weight;
  return percent >= 1 || percent === 0 ? shareText(weight) : `${percent.toPrecision(2)} %`;
}

/** @param {Game} game */
function time(game) {
  const lines = bothSides((side) =>
    ofMoves(game, side, ({ seconds }) =>
      seconds === null ? null : { value: seconds, hollow: false, text: `${seconds.toFixed(2)} s` },
    ),
  );
  const most = Math.max(0, ...lines.flatMap((line) => line.points.map((point) => point.value)));
  const step = roundStep(most / 3);
  const ticks = [0, 1, 2, 3].map((count) => ({
    value: count * step,
    text: `${Number((count * step).toPrecision(3))} s`,
  }));
  return {
    title: "Time for the move",
    lines,
    marks: [],
    ticks,
    low: 0,
    high: 3 * step,
    gap: OWN_TURNS,
  };
}

/**
 * The least of 1, 2, 5, 10, … that is no less than a number.
 * @param {number} least
 */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-3)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}

// The DeepSeek Harness under test: its packages for sessions and for compaction. A record as a `Session`.
//
// What is asked of the packages: `Session` takes the events and refuses; `foldSurface` and `deriveEventMessage` say what
// stands for the model; `interruptedTurnClosers` repairs; `toolPairingBalancedBefore` and `…After` say where a range may be
// cut; `isAppendSurfaceEvent` and `isCompactCheckpointSource` say what people see.

import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";
import {
  Session, deriveEventMessage, foldSurface, interruptedTurnClosers, isAppendSurfaceEvent, isReplacementSurfaceEvent,
} from "@deepseek-ai/dsh-session";
import { compactCheckpointSource, isCompactCheckpointSource, toolPairingBalancedAfter, toolPairingBalancedBefore } from "@deepseek-ai/dsh-compaction";
import { Refused, answer, need } from "../stdio.mjs";
import { Log, OWN, inward } from "./events.mjs";

const pins = createRequire(import.meta.url)("./package.json").dependencies;
const hello = {
  name: "deepseek-harness", language: "javascript",
  version: ["dsh-session", "dsh-compaction"].map((name) => `${name} ${pins[`@deepseek-ai/${name}`]}`).join(", "),
  ops: ["load", "append", "restart", "read", "replay", "context", "compact", "transcript"], targets: ["openai-chat"],
  wordings: { did_not_complete: ["was interrupted"] },
  limits: [
    "the packages for sessions and compaction alone: what its model adapters, its compaction backend, its tool-result pruner, its persistence and its clients do besides is not under test",
    "its messages reach the wire block by block; of reasoning and images its model adapters decide, so what holds them is not replayed",
    "a turn lasts to the next message of a person if the record names no turns; one that left calls open is closed by its own repair, as when a log is loaded",
    "no parents, no rows for people alone, no failed attempts, no images; events that are no messages stand in the log, beside its surface",
    "a compaction is a whole bracket at one go over a range that is named: budgets, summaries that fail, and one that is open meanwhile are its backend's",
  ],
};

/** What the session throws, as a reason. */
const REASONS = [
  [/not found|is after end seq/, "not-in-context"], [/sourceEventSeqs/, "uncited"], [/tool\/result surface replacement/, "not-one-result"],
];

function asked(ask, of) {
  try {
    return ask();
  } catch (thrown) {
    const [, code] = REASONS.find(([pattern]) => pattern.test(thrown.message)) ?? [undefined, "malformed"];
    const row = of?.origins[/index (\d+)/.exec(thrown.message)?.[1]]?.row;
    throw new Refused(code, thrown.message, row && of.rows.get(row).row.seq);
  }
}

let log, session;

/** Holds a log as a session that was loaded from it. Marks of its own lifetimes stand in the session alone. */
function hold(next) {
  const events = JSON.parse(JSON.stringify(next.events));
  session = asked(() => Session.create(OWN, events), next);
  log = next;
  for (const event of session.events.slice(log.events.length)) log.push(undefined, event.type, event.data);
  return { next: log.rows.size };
}

/** Lets the session append what is new in a log. One event at a time: it knows no batches. */
function append(next) {
  const fresh = next.events.slice(log.events.length);
  let taken = 0;
  try {
    asked(() => {
      for (const { type, data, surfaceOp, sourceEventSeqs } of fresh) {
        session.append(type, data, surfaceOp && { surfaceOp, sourceEventSeqs });
        taken += 1;
      }
    });
  } catch (refused) {
    if (taken > 0) hold(log);
    need(taken === 0 || next.rows.size === log.rows.size + 1, "its append takes one event: of a batch that it refuses half way it keeps the first half");
    throw refused;
  }
  log = next;
}

function load({ header, rows }) {
  const before = [log, session];
  log = session = undefined; // what cannot be taken leaves nothing of what was before
  need(!header || header.onrecord === 1, "its own log has another header, whose version its persistence checks");
  const fresh = new Log();
  fresh.startsKnown = header?.records_call_starts === true;
  fresh.add(rows);
  try {
    return { loaded: hold(fresh) };
  } catch (refused) {
    [log, session] = before;
    throw refused;
  }
}

/** The rows, where its events hold all of them. */
function read({ from = 0, limit = Infinity }) {
  const rows = [...log.rows.values()];
  for (const { row, seqs } of rows) {
    const events = seqs.map((seq) => session.events[seq]).filter(({ seq }) => !log.origins[seq].repair);
    const kept = events.flatMap(({ type, data }) => type === "tool/call" ? [] : (data.message ?? data).content?.map((block) => inward(block, data.meta)) ?? []);
    const { seq: _, id: __, replaces: ___, audience: ____, ignorable: _____, at, event, ...more } = row;
    const { role: ______, status: _______, blocks = event.type === "result" ? [event] : [], ...besides } = event;
    const whole = isDeepStrictEqual(kept, blocks) && Object.keys(more).length === 0
      && (event.type !== "message" || Object.keys(besides).length === 1)
      && (at === undefined || new Date(events[0].time).toISOString() === at);
    need(whole, "its events have no place for all that a row holds");
  }
  return { rows: { rows: rows.map(({ row }) => row).slice(from).slice(0, limit === Infinity ? undefined : limit) } };
}

function replay({ mode }) {
  const closers = interruptedTurnClosers(session.events);
  need(mode === "cold" || !closers.some(isAppendSurfaceEvent), "it sends no request while a tool still runs");
  const events = mode === "cold" ? [...session.events, ...closers] : session.events;
  const messages = asked(() => foldSurface(events).nodes.map((seq) => deriveEventMessage(events[seq])));
  return { replayed: { payload: { messages: messages.filter(Boolean).map(wire) } } };
}

/** One of its messages in the envelope of OpenAI Chat. */
function wire({ role, content }) {
  need(content.every(({ type }) => type !== "reasoning"), "its model adapters decide what crosses of reasoning");
  const texts = content.filter(({ type }) => type === "text").map(({ text }) => ({ type: "text", text }));
  const said = texts.length === 1 ? texts[0].text : texts;
  if (content[0]?.type === "tool-result") {
    const [{ toolCallId, content: parts }] = content;
    const told = parts.map(({ text }) => ({ type: "text", text }));
    return { role: "tool", tool_call_id: toolCallId, content: told.length === 1 ? told[0].text : told.length ? told : "" };
  }
  const calls = content.filter(({ type }) => type === "tool-call");
  need(content.findLastIndex(({ type }) => type === "text") < content.length - calls.length, "its model adapters decide where text crosses that stands behind a call");
  const tools = calls.map(({ id, name, arguments: written }) => ({ id, type: "function", function: { name, arguments: written } }));
  return { role, ...((texts.length > 0 || !calls.length) && { content: said }), ...(calls.length > 0 && { tool_calls: tools }) };
}

/** Its replacements, as its own fold tells them, and for each event of its surface the stretch of first events it stands for. */
function folded(events) {
  const { nodes, replacements } = asked(() => foldSurface(events));
  const spans = new Map();
  const span = (seq) => spans.get(seq) ?? [seq, seq];
  for (const { seq, shadowedSeqs } of replacements) {
    spans.set(seq, [span(shadowedSeqs[0])[0], span(shadowedSeqs.at(-1))[1]]);
  }
  return { nodes, replacements, span };
}

/** The context in rows. What stands beside its surface is listed where the log has it, and leaves with what stood around it. */
function context() {
  const { events } = session;
  const { nodes, replacements, span } = folded(events);
  const owner = (seq) => log.origins[seq]?.row;
  const left = new Map();
  for (const { seq, shadowedSeqs } of replacements) {
    const [low, high] = span(seq);
    const beside = [...log.rows.keys()].filter((id) => isBeside(id) && low < log.rows.get(id).seqs[0] && log.rows.get(id).seqs[0] < high);
    for (const id of [...shadowedSeqs.map(owner), ...beside]) if (!left.has(id)) left.set(id, seq);
  }
  const stands = [...nodes.map((seq) => ({ at: span(seq)[0], id: owner(seq) })),
    ...[...log.rows.keys()].filter((id) => isBeside(id) && !left.has(id)).map((id) => ({ at: log.rows.get(id).seqs[0], id }))];
  // Its nodes stay in the order that it gives them.
  const rows = stands.slice(0, nodes.length);
  for (const row of stands.slice(nodes.length)) {
    const behind = rows.findIndex(({ at }) => at > row.at);
    rows.splice(behind < 0 ? rows.length : behind, 0, row);
  }
  const ids = [...new Set(rows.map(({ id }) => id))];
  const by = (id) => events[left.get(id)];
  const checkpoints = replacements.map(({ seq }) => seq).filter((seq) => isCheckpoint(events[seq]));
  return {
    rows: ids.map((id) => ({ id })),
    left: [...log.rows.keys()].filter((id) => left.has(id))
      .map((id) => ({ id, by: owner(left.get(id)), seq: log.rows.get(owner(left.get(id))).row.seq, source: sourceOf(by(id)) })),
    summaries: checkpoints.map((seq) => ({ summary: owner(seq), follows: owner(span(seq)[1]), replaced: [...left.values()].filter((taker) => taker === seq).length })),
  };
}

const isBeside = (id) => log.surface(id).length === 0 && log.rows.get(id).seqs.length > 0;
const isCheckpoint = (event) => event.type === "user/message" && isReplacementSurfaceEvent(event) && isCompactCheckpointSource(event.data.source);

function sourceOf(event) {
  if (isCheckpoint(event)) return "compaction";
  if (event.type === "tool/result") return "clearing";
  return event.type === "assistant/message" ? "regeneration" : event.data.source.plugin.slice(OWN.length + 1);
}

function compact({ id, cut, end, mode, turn, at }) {
  need(cut && end, "a compaction that is open between two requests is its backend's, which is not under test");
  need(cut.range, "what a budget takes, and the nearest range, is its backend's policy, which is not under test");
  need(!end.cancelled && !end.failed, "how a failure is recorded is its backend's, which is not under test");
  need(end.summary.text.trim() && !end.summary.error, "what counts as a summary is its backend's to say, which is not under test");
  need((mode ?? "model") === "model", "its log tells of summaries that a model wrote, and names the model");
  need(at === undefined, "a session stamps its events by its own clock");
  need(!session.events.some(({ data }) => data.compactionId === id), "ids of compactions are its backend's");
  const next = log.copy();
  if (turn === "cold" && next.pending().length) {
    next.close();
    append(next);
  }
  const { first, last } = cut.range;
  for (const edge of [first, last]) need(!log.rows.has(edge) || log.surface(edge).length, "only messages and results have a place in its surface");
  const seqs = [log.surface(first)[0] ?? -1, log.surface(last).at(-1) ?? -1];
  const balanced = asked(() => toolPairingBalancedBefore(session, seqs[0]) && toolPairingBalancedAfter(session, seqs[1]));
  if (!balanced) throw new Refused("unbalanced", "an edge of the range separates a call from its result");
  return land(id, end.summary.text, cut.range, seqs);
}

/** The bracket as the package's contract has it, and the rows that say what landed. */
function land(id, text, { first, last }, [start, end]) {
  const surface = session.surface.nodes;
  const shadowedSeqs = surface.slice(surface.indexOf(start), surface.indexOf(end) + 1);
  const before = context().rows.map((row) => row.id);
  const taken = before.slice(before.indexOf(first), before.indexOf(last) + 1);
  const next = log.copy();
  const owner = next.turn.open ? next.turn.number : null;
  const names = [];
  const rows = [];
  const store = (part, event, more, type, data, how) => {
    let name = `${id}/${part}`;
    while (next.rows.has(name)) name += "_x";
    const row = { seq: next.rows.size, id: name, ...more, event };
    next.rows.set(name, { row, seqs: [] });
    next.push(row, type, data, how, [0]);
    names.push(name);
    rows.push(row);
  };
  const step = (name, more = {}) => ({ type: "compaction", compaction: id, step: name, ...more });
  const range = { first, last, rows: taken, source: "compaction", compaction: id };
  const words = [{ type: "text", text }];
  store("started", step("started", { mode: "model" }), {}, "compaction/start", { compactionId: id, turn: owner });
  store("provenance", step("provenance", { rows: taken }), {}, "compaction/summary", {
    compactionId: id, summary: words, shadowedRange: { start, end }, shadowedSeqs, shadowedTokenCount: 0, provider: "unknown", model: "unknown" });
  store("summary", { type: "message", role: "user", blocks: words }, { audience: "model", replaces: range }, "user/message",
    { id: `${id}/summary`, role: "user", source: compactCheckpointSource(id), content: words },
    { surfaceOp: { op: "replace", start, end }, sourceEventSeqs: shadowedSeqs });
  store("ended", step("ended", { mode: "model", outcome: "landed", counts: { taken: taken.length, kept: before.length - taken.length }, summary: names[2], text, rows: taken }),
    {}, "compaction/end", { compactionId: id, turn: owner });
  const held = log;
  try {
    asked(() => {
      for (const { type, data, surfaceOp, sourceEventSeqs } of next.events.slice(log.events.length)) {
        session.append(type, data, surfaceOp && { surfaceOp, sourceEventSeqs });
      }
    });
  } catch (refused) {
    hold(held);
    throw refused;
  }
  log = next;
  return { changed: { next: log.rows.size, rows, taken } };
}

/** What its append-origin events and its checkpoints show. A card and its result are linked by the id that both name. */
function transcript() {
  const streamed = [...log.rows.values()].filter(({ row }) => row.event.type === "delta").map(({ row }) => row.event.message);
  need(streamed.every((id) => log.rows.has(id)), "its packages assemble no pieces of a message that never came whole");
  const cards = new Map();
  const items = [];
  for (const event of session.events) {
    const origin = log.origins[event.seq];
    if (isCheckpoint(event)) {
      const cited = folded(session.events.slice(0, event.seq + 1)).replacements.at(-1).shadowedSeqs;
      items.push({ row: origin.row, seq: log.rows.get(origin.row).row.seq, shows: { marker: { rows: new Set(cited.map((seq) => log.origins[seq].row)).size } } });
    } else if (isAppendSurfaceEvent(event) && !origin.repair && (event.data.source ?? event.data.message.source).kind !== "plugin") {
      items.push(...shown(event, origin, cards));
    }
  }
  return { transcript: { items } };
}

function shown(event, { row, blocks }, cards) {
  const message = event.data.message ?? event.data;
  const { seq } = log.rows.get(row).row;
  const kinds = { text: `${message.role}-message`, reasoning: "reasoning-message", "tool-call": "tool-call", "tool-result": "tool-return" };
  return message.content.map((block, nth) => {
    const place = { row, block: blocks[nth] };
    const item = { block: place.block, content: inward(block, event.data.meta) };
    const id = block.type === "tool-call" ? block.id : block.toolCallId;
    if (id !== undefined) {
      const card = cards.get(id) ?? {};
      need(!card[block.type] && (card["tool-call"] || block.type === "tool-call"), "which card a result belongs to where ids repeat, or where it has none before it, is left to its clients");
      cards.set(id, { ...card, [block.type]: { item, place } });
      if (block.type === "tool-result") {
        card["tool-call"].item.returned = place;
        item.call = card["tool-call"].place;
      }
    }
    return { row, seq, ...(event.data.interrupted && { status: "interrupted" }), shows: { [kinds[block.type]]: item } };
  });
}

await answer(hello, (method, params) => {
  if (method === "load") return load(params);
  if (!log) throw new Refused("no-record", "nothing is loaded");
  if (method === "append") {
    need(params.expect === log.rows.size, "its append names no seq that the writer expects");
    const next = log.copy();
    next.add(params.rows);
    append(next);
    return { appended: { next: log.rows.size } };
  }
  if (method === "restart") return { loaded: hold(log) };
  if (method === "replay") return replay(params);
  if (method === "read") return read(params);
  if (method === "context") return { context: context() };
  return method === "compact" ? compact(params) : transcript();
});

// Rows as events of a DeepSeek Harness session log, and back: what is translated, and what has no place there.
//
// A message or a result is one event each; a person's message that holds results too is several. What a log of the harness
// always has and a record may lack is added: the turn and the step that an event names, and the start of a call where the
// record does not say which calls began.

import { interruptedTurnClosers } from "@deepseek-ai/dsh-session";
import { compactCheckpointSource } from "@deepseek-ai/dsh-compaction";
import { check, need } from "../stdio.mjs";

const SURFACE = ["user/message", "assistant/message", "tool/result"];
export const OWN = "onrecord";

/** A growing log: its events, and for each row the events that stand for it. */
export class Log {
  events = [];
  /** Of an event, by seq: the row that it stands for, the places of its blocks in the row, and whether its repair made it. */
  origins = [];
  /** The rows by id, in order: `{row, seqs}`. */
  rows = new Map();
  turn = { number: 0, step: 0, open: false, inStep: false, said: false, answered: false };
  named = false;
  startsKnown = false;

  copy() {
    const { events, origins, rows, turn } = this;
    const kept = [...rows].map(([id, { row, seqs }]) => [id, { row, seqs: [...seqs] }]);
    return Object.assign(new Log(), this, { events: [...events], origins: [...origins], rows: new Map(kept), turn: { ...turn } });
  }

  /** The events that stand in the surface's own kinds for a row. */
  surface(id) {
    return (this.rows.get(id)?.seqs ?? []).filter((seq) => SURFACE.includes(this.events[seq].type));
  }

  push(row, type, data, more = {}, blocks = [], repair = false) {
    const seq = this.events.length;
    this.events.push({ type, seq, time: Date.parse(row?.at) || 0, data, ...more });
    this.origins.push(row && { row: row.id, blocks, repair });
    if (row) this.rows.get(row.id).seqs.push(seq);
    return seq;
  }

  add(rows) {
    for (const [place, row] of rows.entries()) this.one(row, rows.slice(place));
  }

  one(row, later) {
    shaped(row, this.rows.size, this.rows);
    const { event } = row;
    const interrupted = () => !this.awaited(later);
    if (event.type === "turn" && this.turn.open) this.close(event.edge === "started");
    else if (isPersons(row) && this.turn.answered && !this.named && interrupted()) this.close();
    else if (event.role === "assistant" && !row.replaces && this.pending().length && interrupted()) this.close();
    this.rows.set(row.id, { row, seqs: [] });
    const how = row.replaces ? this.replacement(row) : { surfaceOp: "append" };
    if (event.type === "message" && event.role === "user") this.user(row, how);
    else if (event.type === "message") this.assistant(row, how);
    else if (event.type === "result") this.result(row, event, row.id, how, [0]);
    else this.besides(row);
  }

  user(row, how) {
    if (!row.replaces) this.ensureTurn();
    const runs = [];
    for (const [place, block] of row.event.blocks.entries()) {
      const last = runs.at(-1);
      if (block.type === "result" || !last || last.result) runs.push({ result: block.type === "result" && block, places: [place] });
      else last.places.push(place);
    }
    need(!row.replaces || runs.length < 2, "a replacement is one event, and a message with a result in it is several");
    if (runs.length === 0) runs.push({ places: [] });
    for (const [nth, { result, places }] of runs.entries()) {
      const id = nth === 0 ? row.id : `${row.id}#${nth}`;
      const content = places.map((place) => row.event.blocks[place]);
      if (result) this.result(row, result, id, how, places);
      else this.push(row, "user/message", { id, role: "user", source: source(row), content }, how, places);
    }
  }

  assistant(row, how) {
    if (how.surfaceOp === "append" && this.pending().length === 0) this.ensureStep();
    const { blocks, status } = row.event;
    const { number: turn, step } = this.turn;
    const made = blocks.find((block) => block.from)?.from;
    const message = { id: row.id, role: "assistant", content: blocks.map(outward),
      source: { kind: "model", provider: made?.provider || "unknown", model: made?.model || "unknown" } };
    this.push(row, "assistant/message", { turn, step, message, ...(status === "interrupted" && { interrupted: true }) },
      how, [...blocks.keys()]);
    this.turn.said = this.turn.answered = true;
    if (this.startsKnown || row.replaces) return;
    for (const { type, id: callId, name, arguments: written } of blocks) {
      if (type === "call") this.push(row, "tool/call", { turn, step, callId, name, arguments: written });
    }
  }

  result(row, { call, name, error, content, type: _, ...rest }, id, how, blocks) {
    this.ensureTurn();
    // A cleared result is the one that it replaces, but for its content.
    const original = row.replaces && this.events[how.surfaceOp.start];
    const { turn = this.turn.number, step = this.turn.step } = original?.type === "tool/result" ? original.data : {};
    const message = { id: original?.data.message?.id ?? id, role: "user", source: { kind: "tool", callId: call },
      content: [{ ...rest, type: "tool-result", toolCallId: call, content, ...(error !== undefined && { isError: error }) }] };
    this.push(row, "tool/result", { turn, step, message, ...(name !== undefined && { meta: { name } }) }, how, blocks);
    this.turn.answered = true;
  }

  /** What stands in the log alone. */
  besides(row) {
    const { event } = row;
    need(!row.replaces, "only a message or a result takes the place of others");
    if (event.type === "turn") return this.edge(row);
    if (event.type === "call-started") {
      this.ensureTurn();
      const call = this.calls().findLast(({ id }) => id === event.call);
      need(call, "the start of a call names the tool and the arguments, and no call has this id");
      const { number: turn, step } = this.turn;
      return this.push(row, "tool/call", { turn, step, callId: call.id, name: call.name, arguments: call.arguments });
    }
    if (event.type === "delta") {
      this.ensureStep();
      const { number: turn, step } = this.turn;
      const chunk = { type: `${event.part}-delta`, index: event.part === "text" ? 1 : 0, text: event.text };
      return this.push(row, "assistant/chunk", { turn, step, chunk });
    }
    if (event.type === "compaction") {
      const { step, compaction: compactionId, outcome, reason } = event;
      need(step !== "upgraded", "a summary's text is never made better");
      const turn = this.turn.open ? this.turn.number : null;
      if (step === "started") return this.push(row, "compaction/start", { compactionId, turn });
      if (step === "ended") {
        return this.push(row, "compaction/end", { compactionId, turn, ...(outcome !== "landed" && { error: reason ?? `${outcome}` }) });
      }
    }
    need(row.ignorable || event.type === "compaction", "which events must be known is checked by its persistence");
    return this.push(row, `${OWN}/${event.type}`, event, { ignorable: true });
  }

  edge(row) {
    this.named = true;
    if (row.event.edge === "started") {
      Object.assign(this.turn, { number: this.turn.number + 1, step: 0, open: true, inStep: false, said: false, answered: false });
      return this.push(row, "turn/start", { turn: this.turn.number });
    }
    need(this.turn.open, "a turn ends that did not begin");
    if (this.turn.inStep) this.push(row, "step/end", { turn: this.turn.number, step: this.turn.step });
    const reason = row.event.edge === "ended" ? { kind: "completed" } : { kind: "aborted", reason: { kind: "user" } };
    Object.assign(this.turn, { open: false, inStep: false });
    return this.push(row, "turn/end", { turn: this.turn.number, reason });
  }

  ensureTurn() {
    if (!this.turn.open) {
      Object.assign(this.turn, { number: this.turn.number + 1, step: 0, open: true, inStep: false, said: false, answered: false });
      this.push(undefined, "turn/start", { turn: this.turn.number });
    }
  }

  ensureStep() {
    this.ensureTurn();
    const { number: turn } = this.turn;
    if (this.turn.inStep && this.turn.said) this.push(undefined, "step/end", { turn, step: this.turn.step });
    if (!this.turn.inStep || this.turn.said) {
      this.turn.step += 1;
      this.turn.inStep = true;
      this.turn.said = false;
      this.push(undefined, "step/start", { turn, step: this.turn.step });
    }
  }

  /** The open turn ends as one that was interrupted does when a log is loaded: by the session package's own repair. */
  close(whole = true) {
    const last = [...this.rows.values()].at(-1)?.row;
    const closers = interruptedTurnClosers(this.events);
    for (const { type, data, seq: _, time: __, ...more } of closers.filter(({ type }) => whole || type !== "turn/end")) {
      this.push(SURFACE.includes(type) ? last : undefined, type, data, more, [], true);
    }
    Object.assign(this.turn, { open: !whole, inStep: false, said: false });
  }

  /** The results that the session package's repair would add. */
  pending() {
    return interruptedTurnClosers(this.events).filter(({ type }) => type === "tool/result");
  }

  /** Whether a result of a call that is open is among these rows, so that nothing was interrupted here. */
  awaited(later) {
    const open = new Set(this.pending().map(({ data }) => data.message.source.callId));
    for (const { event } of later) {
      for (const { type, id, call } of event?.type === "result" ? [event] : Array.isArray(event?.blocks) ? event.blocks : []) {
        if (type === "result" && open.has(call)) return true;
        if (type === "call") open.delete(id);
      }
    }
    return false;
  }

  calls() {
    return this.events.flatMap(({ type, data }) => type === "assistant/message" ? data.message.content : [])
      .filter(({ type }) => type === "tool-call");
  }

  /** The surface's operation for a row that stands for others. The session itself checks the range and what is cited. */
  replacement({ replaces }) {
    const nowhere = Number.MAX_SAFE_INTEGER;
    for (const end of [replaces.first, replaces.last]) {
      need(!this.rows.has(end) || this.surface(end).length, "only messages and results have a place in its surface");
    }
    const start = this.surface(replaces.first)[0] ?? nowhere;
    const end = this.surface(replaces.last).at(-1) ?? nowhere;
    const cited = replaces.rows.flatMap((id) => this.rows.has(id) ? this.surface(id) : [nowhere]);
    return { surfaceOp: { op: "replace", start, end }, sourceEventSeqs: cited };
  }
}

const isPersons = ({ event, audience, replaces }) => event?.type === "message" && event.role === "user" && audience !== "model"
  && !replaces && event.blocks.some(({ type }) => type === "text");

function source({ id, replaces, audience }) {
  if (replaces?.source === "compaction") return compactCheckpointSource(replaces.compaction ?? id);
  if (replaces) return { kind: "plugin", plugin: `${OWN}/${replaces.source}` };
  return audience === "model" ? { kind: "plugin", plugin: OWN } : { kind: "user" };
}

function outward(block) {
  return block.type === "call" ? { ...block, type: "tool-call" } : block;
}

/** A block of the log as a row holds it. */
export function inward(block, meta) {
  if (block.type === "tool-call") return { ...block, type: "call" };
  if (block.type !== "tool-result") return block;
  const { toolCallId: call, isError, ...rest } = block;
  return { ...rest, type: "result", call, ...(meta?.name !== undefined && { name: meta.name }), ...(isError !== undefined && { error: isError }) };
}

const shape = "a session checks events of its own shape, not rows";

/** Answers `unsupported` for what an event of the harness has no place for. */
function shaped(row, seq, rows) {
  const { event, replaces } = row ?? {};
  need(typeof event === "object" && event && typeof event.type === "string" && typeof row.id === "string" && row.id, shape);
  need(event.type !== "message" || ["user", "assistant"].includes(event.role), shape);
  need(row.seq === seq && !rows.has(row.id), "a session gives its events their seqs, and its messages' ids may repeat");
  need(row.parent === undefined, "an event has no parent");
  need((row.audience ?? "both") !== "people", "what is for people alone has no place in its surface, and no other event holds a message");
  need(row.audience !== "model" || replaces || event.type !== "message" || event.role === "user",
    "only a message in the person's voice can be for the model alone");
  if (replaces) {
    need([replaces.first, replaces.last, replaces.source].every((text) => typeof text === "string") && Array.isArray(replaces.rows), shape);
    need(replaces.source !== "compaction" || (event.type === "message" && event.role === "user"), "a checkpoint is a message in the person's voice");
    need(event.role !== "assistant" || replaces.source === "regeneration", "a replaced message of the model does not say why it was");
    need((event.type === "result") === (replaces.source === "clearing"), "a result is replaced by one with other content, and nothing else is");
  }
  const blocks = event.type === "message" ? event.blocks : event.type === "result" ? [event] : [];
  need(Array.isArray(blocks), shape);
  for (const block of blocks) check(block, event.role ?? "user");
  const all = blocks.flatMap((block) => [block, ...(block.content ?? [])]);
  need(all.every(({ type }) => type !== "image"), "an image is a reference into its attachment store, which is not under test");
  if (event.type !== "message") return;
  need(event.status !== "failed", "a failed attempt leaves no message in its log");
  need(event.status !== "interrupted" || event.role === "assistant", "only a message of the model can be interrupted");
}

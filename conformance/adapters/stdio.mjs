// What the Node adapters share: the protocol's loop, the rows as plain messages, and trimming to a budget.
//
// Nothing here repairs a record. What a list of messages cannot hold is answered `unsupported`, with the reason.

import { createInterface } from "node:readline";

// Standard output is the protocol's.
console.log = console.info = console.debug = console.error;

const BLOCKS = { user: ["text", "image", "result"], assistant: ["text", "reasoning", "call", "image"] };
const FIELDS = { text: ["text"], reasoning: ["text"], image: ["media_type"], call: ["id", "name", "arguments"], result: ["call"] };
const OPTIONAL = { token: "string", encrypted: "boolean", from: "object", error: "boolean", name: "string", data: "string", url: "string" };

class Unsupported extends Error {}

/** The library itself threw, or says no: a verdict on the library. */
export class Refused extends Error {
  constructor(code, detail, seq) {
    super(detail);
    this.code = code;
    this.seq = seq;
  }
}

/** Answers `unsupported` where the library has no place for something. */
export function need(has, reason) {
  if (!has) throw new Unsupported(reason);
}

/** One row as `{role, blocks}`, a result row as a user message. A list of messages holds no more than that. */
function taken(row, seq, ids) {
  need(typeof row?.event === "object" && typeof row.id === "string", "a list of messages has no rows whose shape could be checked");
  const kind = row.event?.type;
  need(row.seq === seq && row.id && !ids.has(row.id), "a list of messages has no seq and no row id to check");
  need(row.parent === undefined || ids.has(row.parent), "a list of messages has no parents");
  need(!row.replaces, "a list of messages has no row that stands for a range of others");
  need(["both", "model"].includes(row.audience ?? "both"), "a list of messages holds nothing that is for people alone");
  need(kind === "message" || kind === "result", `a list of messages has no place for an event \`${kind}\``);
  const { role, blocks, status = "complete" } = kind === "result" ? { role: "user", blocks: [row.event] } : row.event;
  need(role in BLOCKS && Array.isArray(blocks), "a list of messages has no rows whose shape could be checked: not a message");
  need(["complete", "interrupted"].includes(status), `a list of messages does not keep a message that is \`${status}\``);
  for (const block of blocks) check(block, role);
  return { role, blocks };
}

/** Answers `unsupported` where a block has no shape that this role's message could hold. */
export function check(block, role) {
  need(BLOCKS[role].includes(block?.type), `the library's ${role} message has no place for a block \`${block?.type}\``);
  const shaped = FIELDS[block.type].every((field) => typeof block[field] === "string")
    && Object.entries(OPTIONAL).every(([field, form]) => !(field in block) || typeof block[field] === form)
    && (block.type !== "image" || "data" in block !== "url" in block) && (block.type !== "result" || Array.isArray(block.content));
  need(shaped, `a list of messages has no rows whose shape could be checked: not a block \`${block.type}\``);
  if (block.type === "result") for (const part of block.content) check(part, "user");
}

/** A result's tool name where the row has none: the library wants one. That of the call, the nearest before it. */
function named(messages) {
  const calls = new Map();
  const learn = ({ blocks }) => { for (const block of blocks) if (block.type === "call") calls.set(block.id, block.name); };
  messages.toReversed().forEach(learn);
  for (const message of messages) {
    learn(message);
    for (const block of message.blocks) if (block.type === "result") block.name ??= calls.get(block.call) ?? "unknown";
  }
}

/** The rows as plain messages, and the library's messages made of them. */
class Held {
  next = 0;
  messages = [];
  ids = new Set();
  /** The library's messages, and of each the id of the row that it was made of. */
  history = [];
  owners = [];

  append(expect, rows, convert) {
    need(expect === this.next, "a list of messages has no seq that a writer could expect");
    const ids = new Set(this.ids);
    const messages = [];
    for (const row of rows) {
      messages.push(taken(row, this.next + messages.length, ids));
      ids.add(row.id);
    }
    named([...this.messages, ...messages]);
    for (const [index, message] of messages.entries()) {
      const made = convert([message]);
      this.history.push(...made);
      this.owners.push(...made.map(() => rows[index].id));
    }
    this.messages.push(...messages);
    this.ids = ids;
    this.next += rows.length;
  }

  /** Lets the library's own `trim(history, budget)` choose which of its messages stay, by their places. */
  trim({ cut, end }, trim) {
    need(cut?.budget && end?.summary, "the library can trim its list of messages, and no more: it replaces no range, and nothing is open meanwhile");
    const stays = new Set(trim(this.history, cut.budget));
    const kept = new Set(this.owners.filter((_, place) => stays.has(place)));
    const parts = this.owners.some((row, place) => kept.has(row) && !stays.has(place));
    need(!parts, "the library lets go of a part of what one row holds, and that is no row that left");
    const taken = [...new Set(this.owners)].filter((row) => !kept.has(row));
    this.history = this.history.filter((_, place) => stays.has(place));
    this.owners = this.owners.filter((row) => kept.has(row));
    return { changed: { next: this.next, rows: [], taken } };
  }

  /** The names of the tools that were called: a request offers them. */
  get calls() {
    return this.messages.flatMap(({ blocks }) => blocks.filter(({ type }) => type === "call").map(({ name }) => name));
  }
}

/**
 * Answers until the input ends, for a library that keeps a list of messages. Its part: `convert(messages)` gives its own
 * messages, `reread(history)` writes them as it stores them and reads them again, `replay(history, calls, params)` gives an
 * outcome, `trim(history, budget)` the places of the messages that stay.
 */
export async function serve(hello, { convert, reread, replay, trim }) {
  let held;
  await answer(hello, async (method, { header, rows, expect, ...params }) => {
    if (method === "load") {
      held = undefined; // what cannot be taken leaves nothing of what was before
      need(!header || (header.onrecord === 1 && !header.records_call_starts),
        "a list of messages has no header: no version, no promise about call starts");
      const fresh = new Held();
      fresh.append(0, rows, convert);
      held = fresh;
      return { loaded: { next: held.next } };
    }
    if (!held) throw new Refused("no-record", "nothing is loaded");
    if (method === "replay") return replay(held.history, held.calls, params);
    if (method === "compact") return held.trim(params, trim);
    if (method === "append") {
      held.append(expect, rows, convert);
      return { appended: { next: held.next } };
    }
    held.history = reread(held.history);
    return { loaded: { next: held.next } };
  });
}

/** The protocol's loop: `perform(method, params)` gives an outcome, for each method that `hello` lists. */
export async function answer(hello, perform) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params = {} } = JSON.parse(line);
    const answer = { jsonrpc: "2.0", id };
    try {
      if (method === "hello") answer.result = hello;
      else if (hello.ops.includes(method)) answer.result = await perform(method, params);
      else answer.error = { code: -32601, message: `no method ${method}` };
    } catch (fault) {
      if (fault instanceof Unsupported) {
        answer.result = { unsupported: { reason: fault.message } };
      } else if (fault instanceof Refused) {
        answer.result = { refused: { code: fault.code, seq: fault.seq, detail: fault.message } };
      } else {
        console.error(fault);
        answer.error = { code: -32000, message: `${fault.name}: ${fault.message}` };
      }
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

// The Vercel AI SDK under test: a record as its `ModelMessage`s, given to `generateText` with a `fetch` that captures.
//
// The library repairs nothing: a history with an open call it refuses.

import { createRequire } from "node:module";
import { need, serve } from "../stdio.mjs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, pruneMessages, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;
globalThis.fetch = () => {
  throw new Error("the suite uses no network");
};

const pins = createRequire(import.meta.url)("./package.json").dependencies;
const hello = {
  name: "vercel-ai", language: "javascript", version: Object.entries(pins).map(([name, at]) => `${name} ${at}`).join(", "),
  ops: ["load", "append", "restart", "replay", "compact"], targets: ["openai-chat", "anthropic"],
  limits: [
    "the library keeps a list of messages, not a record: no seq, no ranges, no turn boundaries, no call starts",
    "the library cannot be told that a model sees no images, or that a tool still runs",
    "openai.chat has no field for plain reasoning; other provider packages have one",
    "it trims with pruneMessages, which takes calls and results and leaves what was said: no budget in tokens, and a budget in messages only where that keeps to it",
  ],
};

function converted({ role, blocks }) {
  if (role === "assistant") return [{ role, content: blocks.map(answered) }];
  const messages = [];
  for (const block of blocks) {
    const voice = block.type === "result" ? "tool" : "user";
    if (messages.at(-1)?.role !== voice) messages.push({ role: voice, content: [] });
    messages.at(-1).content.push(voice === "tool" ? result(block) : block.type === "text" ? { type: "text", text: block.text } : image(block));
  }
  return messages.length ? messages : [{ role: "user", content: [] }];
}

function answered(block) {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "image") return { type: "file", data: block.data ?? block.url, mediaType: block.media_type };
  if (block.type === "call") return { type: "tool-call", toolCallId: block.id, toolName: block.name, input: input(block.arguments) };
  if (block.token === undefined) return { type: "reasoning", text: block.text };
  need(block.from, "the library keeps a token under its provider's name");
  // As each provider package stores it: `openai` under names of its own, the others as a signature or redacted data.
  const { provider } = block.from;
  const kept = provider === "openai" ? { reasoningEncryptedContent: block.token }
    : block.encrypted ? { redactedData: block.token } : { signature: block.token };
  return { type: "reasoning", text: block.text, providerOptions: { [provider]: kept } };
}

/** The arguments as the library stores them: parsed, none as an empty object, and what is no JSON as the string (`convertToModelMessages`). */
function input(text) {
  try { return text.trim() === "" ? {} : JSON.parse(text); } catch { return text; }
}

function result(block) {
  const { call, name, error, content } = block;
  const texts = content.filter((part) => part.type === "text").map((part) => part.text);
  need(!error || texts.length === content.length, "the library's error result has no place for an image");
  const output = error ? { type: "error-text", value: texts.join("\n") }
    : content.length < 2 && texts.length === content.length ? { type: "text", value: texts[0] ?? "" }
    : { type: "content", value: content.map((part) => part.type === "text" ? { type: "text", text: part.text }
      : part.url ? { type: "image-url", url: part.url } : { type: "image-data", data: part.data, mediaType: part.media_type }) };
  return { type: "tool-result", toolCallId: call, toolName: name, output };
}

const image = (block) => ({ type: "image", image: block.data ?? block.url, mediaType: block.media_type });

async function replay(history, calls, { target, profile }) {
  need(target === "anthropic" || profile.plain_reasoning === "refused", "openai.chat has no field for plain reasoning; other provider packages have one");
  let body;
  const fetch = async (_, request) => { body ??= request.body; return Response.json({ error: { message: "captured" } }, { status: 400 }); };
  const named = profile.model?.model;
  const model = target === "anthropic" ? createAnthropic({ apiKey: "none", fetch })(named ?? "claude-sonnet-4-5")
    : createOpenAI({ apiKey: "none", fetch }).chat(named ?? "gpt-4o");
  const tools = Object.fromEntries(calls.map((name) => [name, tool({ inputSchema: jsonSchema({ type: "object" }) })]));
  const providerOptions = profile.thinking ? { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } : {};
  try {
    await generateText({ model, messages: history, maxRetries: 0, maxOutputTokens: 4096, providerOptions, ...(profile.tools && { tools }) });
  } catch (thrown) {
    if (body === undefined) return { refused: { code: "malformed", detail: `${thrown.name}: ${thrown.message}` } };
  }
  const { system, messages: sent } = JSON.parse(body);
  return { replayed: { payload: { ...(system !== undefined && { system }), messages: sent } } };
}

const PLACE = Symbol("place");

/** The places that `pruneMessages` leaves, which takes the calls and results before the last so many messages. */
function trim(history, { messages: most }) {
  need(most !== undefined, "pruneMessages counts messages, not tokens");
  if (history.length <= most) return history.keys();
  const marked = history.map((message, place) => ({ ...message, [PLACE]: place }));
  const pruned = pruneMessages({ messages: marked, toolCalls: most === 0 ? "all" : `before-last-${most}-messages`, emptyMessages: "remove" });
  need(pruned.length <= most, "pruneMessages takes calls and results and no other message, so the library has no means to keep to this budget");
  need(pruned.every((message) => message.content.length === history[message[PLACE]].content.length),
    "pruneMessages takes calls out of messages whose text stays, and that is no row that left");
  return pruned.map((message) => message[PLACE]);
}

const convert = (messages) => messages.flatMap(converted);
const reread = (history) => JSON.parse(JSON.stringify(history));

await serve(hello, { convert, reread, replay, trim });

/** Publishes the core's events of a session while a model works in it: the same events in the same order. */
import type { Page } from "playwright-core";
import { drive, settled } from "./stage";

/** The view of a call. */
type View = Record<string, unknown>;

/** Returns a number as a unique id. */
const id = (kind: string, n: number): string => kind + String(n).padStart(31, "0");

/** Returns the view of a command. */
export const command = (line: string, more: View = {}): View => ({
  type: "command",
  command: line,
  cwd: "/home/mei/code/harbor",
  output: null,
  state: null,
  duration_ms: null,
  log: null,
  handle: null,
  ...more,
});

/** Returns the view of a file change. */
export const difference = (path: string, before: string, after: string): View => ({
  type: "diff",
  path,
  change: "edited",
  added: 1,
  removed: 1,
  truncated: false,
  hunks: [
    {
      lines: [
        { old: 1, new: null, parts: [{ text: before, emphasis: false }] },
        { old: null, new: 1, parts: [{ text: after, emphasis: false }] },
      ],
    },
  ],
});

/** A turn of a session, published piece by piece. */
export class TurnScript {
  #ids = 500;
  #message = "";
  #blocks = 0;

  constructor(
    readonly page: Page,
    readonly session: string,
    /** The turn's id. */
    readonly turn: string,
  ) {}

  /** Starts a turn with a message of the person. */
  static async begin(page: Page, session: string, words: string): Promise<TurnScript> {
    const telling = new TurnScript(page, session, id("7", 900));
    await telling.tell(
      { type: "turn_started", turn: { ...telling.#view, ended_at: null, end: null } },
      {
        type: "message_added",
        message: {
          id: id("b", 900),
          turn: telling.turn,
          role: "user",
          blocks: [{ type: "text", text: words }],
          meta: { origin: "person", at: 1_795_269_760_000 },
        },
      },
    );
    return telling;
  }

  get #view(): View {
    const usage = { input: 0, cache_read: 0, cache_write: 0, output: 0 };
    return { id: this.turn, started_at: 1_795_269_760_000, usage };
  }

  /** Publishes events in the session. */
  async tell(...events: View[]): Promise<void> {
    const topic = { type: "session", id: this.session };
    await drive(this.page, { events: events.map((event) => ({ topic, event })) });
    await settled(this.page);
  }

  /** Starts a message of the model and returns its id. */
  async message(): Promise<string> {
    this.#message = id("b", (this.#ids += 1));
    this.#blocks = 0;
    const meta = { origin: "model", at: 1_795_269_761_000 };
    const message = { id: this.#message, turn: this.turn, role: "assistant", blocks: [], meta };
    await this.tell({ type: "message_started", message });
    return this.#message;
  }

  /** Streams a piece of text or reasoning. */
  async piece(kind: "text" | "reasoning", text: string): Promise<void> {
    const delta = {
      session: this.session,
      message: this.#message,
      block: this.#blocks,
      kind: { type: kind },
      offset: 0,
    };
    await drive(this.page, { updates: [{ type: "delta", delta: { ...delta, text } }] });
    await settled(this.page);
  }

  /** Publishes a complete text or reasoning block. */
  async block(kind: "text" | "reasoning", text: string): Promise<void> {
    await this.tell({ type: "block_added", message: this.#message, index: this.#blocks, block: { type: kind, text } });
    this.#blocks += 1;
  }

  /** Plans a call and returns its id. */
  async call(tool: string, view: View): Promise<string> {
    const call = id("c", (this.#ids += 1));
    const block = { type: "tool_call", id: call, provider_id: `toolu_${call}`, name: tool, arguments: "{}" };
    await this.tell(
      { type: "block_added", message: this.#message, index: this.#blocks, block },
      { type: "call_changed", call: { id: call, turn: this.turn, tool, view, state: { type: "planned" } } },
    );
    this.#blocks += 1;
    return call;
  }

  /** Starts a call. */
  async runs(call: string, tool: string, view: View): Promise<void> {
    const state = { type: "started", at: 1_795_269_762_000 };
    await this.tell({ type: "call_changed", call: { id: call, turn: this.turn, tool, view, state } });
  }

  /** Streams output of a running command. */
  async writes(call: string, text: string): Promise<void> {
    const delta = {
      session: this.session,
      message: this.#message,
      block: 0,
      kind: { type: "output", call },
      offset: 0,
    };
    await drive(this.page, { updates: [{ type: "delta", delta: { ...delta, text } }] });
    await settled(this.page);
  }

  /** Ends a call. */
  async ends(call: string, tool: string, view: View, status: "done" | "failed"): Promise<void> {
    const state = { type: "ended", status, at: 1_795_269_764_000, duration_ms: 2_000 };
    await this.tell({ type: "call_changed", call: { id: call, turn: this.turn, tool, view, state } });
  }

  /** Plans a call that needs permission or an answer first. */
  async asks(tool: string, view: View, ask: View): Promise<string> {
    const call = await this.call(tool, view);
    const question = id("9", (this.#ids += 1));
    await this.tell(
      { type: "call_changed", call: { id: call, turn: this.turn, tool, view, state: { type: "asking" } } },
      { type: "question_asked", question: { id: question, call, tool, at: 1_795_269_762_000, ask } },
    );
    return question;
  }

  /** Ends the turn with its usage. */
  async over(usage: Record<"input" | "cache_read" | "cache_write" | "output", number>, cost: number): Promise<void> {
    const at = { started_at: 1_795_269_760_000, ended_at: 1_795_269_778_000 };
    const call = {
      turn: this.turn,
      message: this.#message,
      purpose: "turn",
      model: "a0000000000000000000000000000001",
      name: "claude-sonnet-4-5",
      at: at.started_at,
      usage,
      written_for_an_hour: 0,
      cost,
      first_byte_ms: 640,
      total_ms: 9_000,
      outcome: "answered",
      expected_read: null,
      miss: null,
      again: 0,
      again_cost: 0,
    };
    await this.tell(
      { type: "message_ended", message: this.#message, end: "complete", usage },
      { type: "call_billed", call },
      { type: "turn_ended", turn: { id: this.turn, ...at, end: { type: "finished" }, usage } },
    );
  }
}

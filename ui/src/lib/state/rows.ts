/** The rows of the transcript, derived from a session's state. Pure; rows read streamed text themselves. */
import type {
  ApiError,
  BackgroundCommand,
  Block,
  CallView,
  ChatService,
  Message,
  Note,
  Question,
  TurnView,
} from "$lib/ipc/types";
import type { SessionState } from "./session";
import { hitRate, totalInput } from "./spending";
import type { Stream } from "./stream";

/** A tool call as a row of a card: the call, or its arguments while they stream. */
export interface Step {
  readonly key: string;
  /** Null while the arguments stream. */
  readonly call: CallView | null;
  /** The tool's name as the model wrote it. */
  readonly tool: string;
  /** The id of the message that contains the call. */
  readonly message: string;
  /** The raw arguments; empty while they stream. */
  readonly argumentText: string;
  /** The result for the model, if the card itself does not show it: of a failure, or of a call without a view. */
  readonly result: string | null;
}

/** The figures of a turn's last row. */
export interface TurnFigures {
  readonly steps: number;
  readonly milliseconds: number;
  readonly tokens: number;
  /** The share of the input read from the cache, 0 to 1; null without input. */
  readonly cached: number | null;
}

interface Common {
  readonly key: string;
  /** The id of its message, to jump to. */
  readonly message: string | null;
  /** Whether a turn starts here. */
  readonly first: boolean;
  /** Whether its turn was undone: the model does not see it. */
  readonly undone: boolean;
  /** Whether its turn is over; true if it belongs to none. */
  readonly over: boolean;
}

/** A row of the transcript. */
export type Row = Common &
  (
    | { kind: "user"; blocks: readonly Block[]; at: number; id: string; via: ChatService | null }
    /** `between`: an interim text, with calls after it. */
    | { kind: "text"; id: string; index: number; streaming: boolean; text: string; between: boolean }
    | { kind: "reasoning"; id: string; index: number; streaming: boolean; text: string }
    | { kind: "steps"; steps: readonly Step[] }
    | { kind: "ended"; commands: readonly BackgroundCommand[] }
    /** The text that told the model about new skills. */
    | { kind: "new_skills"; text: string }
    | { kind: "summary"; text: string; covers: number; archive: string | null }
    | { kind: "cut"; why: "truncated" | "cut" }
    | { kind: "undone" }
    | { kind: "end"; turn: TurnView; figures: TurnFigures; outcome: "finished" | "stopped" }
    | { kind: "error"; turn: string; error: ApiError; canRetry: boolean }
    | { kind: "note"; about: Note["kind"]; note: ApiError }
    | { kind: "ask"; question: Question; position: number; count: number }
  );

type Distribute<T> = T extends Row ? Omit<T, "first" | "undone" | "over"> : never;
type Draft = Distribute<Row>;

/** The parts of a session's state that rows depend on; of streamed text only which blocks stream. */
export type RowSource = Pick<
  SessionState,
  "messages" | "turns" | "calls" | "questions" | "notes" | "streaming" | "earlier"
>;

/** Returns the rows of a session, oldest first. */
export function rowsOf(state: RowSource): readonly Row[] {
  const rows: Row[] = [];
  const turns = new Map(state.turns.map((turn) => [turn.id, turn]));
  const open = new Map<string, Stream[]>();
  const results = new Map<string, string>();
  for (const message of state.messages) {
    for (const block of message.blocks) if (block?.type === "tool_result") results.set(block.call, block.text);
  }
  for (const stream of state.streaming) {
    if (stream.kind.type !== "output") open.set(stream.message, [...(open.get(stream.message) ?? []), stream]);
  }
  // Turns of pages that are not loaded wait for them.
  const first = state.messages[0];
  const notes = state.notes.filter((note) => !state.earlier || !first || note.at >= first.meta.at);

  let turn: string | null = null;
  let steps = 0;
  /** Whether the turn has no row yet: it started without a message of the person. */
  let startsTurn = true;
  const add = (row: Draft, startsMessage = false): void => {
    const undone = turn !== null && turns.get(turn)?.undone === true;
    const isTurnOver = turn === null || turns.get(turn)?.end !== null;
    if (undone && rows.at(-1)?.undone !== true)
      rows.push({ kind: "undone", key: `undone:${turn}`, message: null, first: true, undone, over: isTurnOver });
    rows.push({
      ...row,
      undone,
      over: isTurnOver,
      first: startsMessage || rows.length === 0 || (startsTurn && row.kind === "ended"),
    });
    startsTurn = false;
  };
  const close = (): void => {
    const view = turn === null ? undefined : turns.get(turn);
    if (view?.end) addNotes(view.ended_at ?? view.started_at);
    if (view?.end) addEnd(view, view.id === state.turns.at(-1)?.id, steps, add);
    turn = null;
  };
  /** Adds the notes created before a moment; only their time orders them. */
  const addNotes = (before: number): void => {
    const firstLater = notes.findIndex((note) => note.at >= before);
    for (const { seq, kind, note } of notes.splice(0, firstLater < 0 ? notes.length : firstLater))
      add({ kind: "note", key: `note:${seq}`, message: null, about: kind, note });
  };

  for (const message of state.messages) {
    if (message.turn !== turn) {
      close();
      steps = 0;
      startsTurn = true;
      turn = message.turn;
    }
    addNotes(message.meta.at);
    if (message.role === "user" && (message.meta.origin === "person" || isTask(message))) addUser(message, add);
    else steps += addBlocks(message, open.get(message.id) ?? [], state, results, rows, add);
  }
  close();
  // A turn that failed before its first message has no message to attach to.
  const last = state.turns.at(-1);
  if (last?.end && !state.messages.some((message) => message.turn === last.id)) addEnd(last, true, 0, add);

  addNotes(Infinity);

  state.questions.forEach((question, index) =>
    add({
      kind: "ask",
      key: `ask:${question.id}`,
      message: null,
      question,
      position: index,
      count: state.questions.length,
    }),
  );
  return rows;
}

/** Returns whether a message is a sub-agent's instruction. */
function isTask(message: Message): boolean {
  return message.blocks.some((block) => block.type === "notice" && block.kind === "fork");
}

function addUser(message: Message, add: (row: Draft, startsMessage?: boolean) => void): void {
  const blocks = message.blocks.filter((block) => block.type !== "notice");
  if (blocks.length > 0)
    add(
      {
        kind: "user",
        key: message.id,
        message: message.id,
        id: message.id,
        blocks,
        at: message.meta.at,
        via: message.meta.via ?? null,
      },
      true,
    );
  // Of the messages Octo adds for the model, only skills are shown: the person should be able to read these
  // instructions.
  message.blocks.forEach((block, index) => {
    if (block.type === "notice" && block.kind === "new_skills")
      add({ kind: "new_skills", key: `${message.id}:${index}`, message: message.id, text: block.text });
  });
}

/** Adds the blocks of a model's message (or of one added by Octo); returns the number of its calls. */
function addBlocks(
  message: Message,
  open: readonly Stream[],
  state: RowSource,
  results: ReadonlyMap<string, string>,
  rows: Row[],
  add: (row: Draft) => void,
): number {
  let calls = 0;
  const count = Math.max(message.blocks.length, ...open.map((stream) => stream.block + 1));
  for (let index = 0; index < count; index += 1) {
    const block = message.blocks[index];
    const stream = block ? undefined : open.find((candidate) => candidate.block === index);
    const position = { key: `${message.id}:${index}`, message: message.id, id: message.id, index };
    if (block?.type === "text" || stream?.kind.type === "text") {
      const text = block?.type === "text" ? block.text : "";
      if (!stream && text.trim() === "") continue;
      const between = message.blocks.some((other) => other?.type === "tool_call");
      add({ kind: "text", ...position, streaming: Boolean(stream), text, between });
    } else if (block?.type === "reasoning" || stream?.kind.type === "reasoning") {
      const text = block?.type === "reasoning" ? block.text : "";
      if (stream || text.trim() !== "") add({ kind: "reasoning", ...position, streaming: Boolean(stream), text });
    } else if (block?.type === "tool_call") {
      calls += 1;
      const call = state.calls.get(block.id) ?? null;
      // Its question card shows the planned action.
      if (call?.state.type === "asking" && state.questions.some((question) => question.call === call.id)) continue;
      addStep(rows, add, {
        key: position.key,
        call,
        tool: call?.tool ?? block.name,
        message: message.id,
        argumentText: block.arguments,
        result: showsResult(call) ? (results.get(block.id) ?? null) : null,
      });
    } else if (stream?.kind.type === "arguments") {
      addStep(rows, add, {
        key: position.key,
        call: null,
        tool: stream.kind.tool,
        message: message.id,
        argumentText: "",
        result: null,
      });
    } else if (block?.type === "commands_ended") {
      add({ kind: "ended", ...position, commands: block.commands });
    } else if (block?.type === "summary") {
      add({ kind: "summary", ...position, text: block.text, covers: block.covers, archive: block.archive ?? null });
    }
  }
  const end = message.meta.end;
  if (end === "truncated" || end === "cut") {
    add({ kind: "cut", key: `${message.id}:end`, message: message.id, why: end });
  }
  return calls;
}

function showsResult(call: CallView | null): boolean {
  if (call?.state.type !== "ended") return call === null;
  const { status } = call.state;
  if (call.view === null) return status !== "denied" && status !== "stopped";
  return status === "failed" && call.view.type !== "command" && call.view.type !== "plain";
}

function addStep(rows: Row[], add: (row: Draft) => void, step: Step): void {
  const last = rows.at(-1);
  if (last?.kind === "steps") rows[rows.length - 1] = { ...last, steps: [...last.steps, step] };
  else add({ kind: "steps", key: step.key, message: step.message, steps: [step] });
}

function addEnd(turn: TurnView, newest: boolean, steps: number, add: (row: Draft) => void): void {
  const position = { key: `end:${turn.id}`, message: null };
  const end = turn.end;
  if (end?.type === "failed") {
    add({ kind: "error", ...position, turn: turn.id, error: end.error, canRetry: newest });
    return;
  }
  const input = totalInput(turn.usage);
  const figures: TurnFigures = {
    steps,
    milliseconds: Math.max(0, (turn.ended_at ?? turn.started_at) - turn.started_at),
    tokens: input + turn.usage.output,
    cached: hitRate(turn.usage),
  };
  add({ kind: "end", ...position, turn, figures, outcome: end?.type === "stopped" ? "stopped" : "finished" });
}

/** Returns the text so far of a streaming block. */
export function streamText(streaming: readonly Stream[], message: string, index: number): string {
  return (
    streaming.find((stream) => stream.message === message && stream.block === index && stream.kind.type !== "output")
      ?.text ?? ""
  );
}

/** Returns the live output of a call; null if none streams. */
export function liveOutput(streaming: readonly Stream[], call: string): string | null {
  return streaming.find((stream) => stream.kind.type === "output" && stream.kind.call === call)?.text ?? null;
}

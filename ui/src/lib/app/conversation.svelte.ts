/** The session on screen: its state and everything that can be asked of it. */
import { call } from "$lib/ipc";
import type {
  Event,
  Answer,
  ApiError,
  BilledCall,
  Block,
  BudgetAnswer,
  Effort,
  Message,
  Mode,
  Spending,
  SwitchCost,
  TurnView,
} from "$lib/ipc/types";
import { rowsOf } from "$lib/state/rows";
import { type Part, after, before, partOf } from "$lib/state/parts";
import { type SessionState, apply, prepend } from "$lib/state/session";
import { sumOfCalls } from "$lib/state/spending";
import type { TimePlace } from "$lib/state/timeline";
import { SvelteMap } from "svelte/reactivity";
import { type BegunAnswers, begunIn } from "./begun-answers.svelte";
import { sentElsewhere } from "./drafts.svelte";
import { foldsOf } from "./folds.svelte";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

/** How many messages an earlier page has. */
const PAGE = 200;
/** Nothing, always the same. */
const NONE: readonly never[] = [];

/** Whether the time machine's tasks are others now. */
function changesTasks(event: Event): boolean {
  return event.type === "tasks_changed" || event.type === "went_to";
}

/** What an answer was about: a question by its id, or the budget. */
export type Answered = { type: "question"; id: string } | { type: "budget" };

export class Conversation {
  readonly id: string;
  state = $state.raw<SessionState | null>(null);
  /** Why the session cannot be shown or went no further. */
  problem = $state.raw<ApiError | null>(null);
  loadingEarlier = $state(false);
  loadingLater = $state(false);
  /** What the person opened or closed by hand, by row. */
  readonly folds: SvelteMap<string, boolean>;
  /** What was begun in cards and not sent yet. */
  readonly begun: BegunAnswers;
  /** Raised when the person sends something: they want to see it. */
  sent = $state(0);
  /** What was answered last, so that the focus goes on from its card; a new object for every answer. */
  answered = $state.raw<{ about: Answered } | null>(null);
  /** What turns that ended cost, as far as it was read; see [`readCost`]. */
  readonly #costs = new SvelteMap<string, Spending>();
  // Not drawn: what was asked for already.
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  readonly #asked = new Set<string>();
  /** How many files the tasks of turns changed, as far as it was read; see [`readTasks`]. */
  readonly #changed = new SvelteMap<string, number>();
  /** The moment of the tasks that were read last. */
  #tasksRead: string | null = null;
  /** An earlier part that is read instead of the newest; null while the newest is. What happens goes on behind it. */
  away = $state.raw<Part | null>(null);
  /** The message to bring into view; a new object for every jump. */
  target = $state.raw<{ message: string } | null>(null);
  /** Where the time machine was opened; null while it is closed. */
  timeAt = $state.raw<TimePlace | null>(null);
  #taskChanges = $state(0);
  #wanted: string | null = null;
  #following: Following<SessionState> | undefined;
  /** The questions that were answered from here. Nothing reacts to it. */
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  readonly #given = new Set<string>();
  readonly #ended: () => void;

  // Rows depend on which blocks stream, not on their text: a batch of text alone leaves them as they are.
  // Of an earlier part only what was said is shown: what waits and runs belongs to the end.
  #messages = $derived(this.away?.messages ?? this.state?.messages);
  #turns = $derived(this.state?.turns);
  #shownTurns = $derived(this.away?.turns ?? this.#turns);
  #calls = $derived(this.away?.calls ?? this.state?.calls);
  #questions = $derived(this.away ? NONE : this.state?.questions);
  #notes = $derived(this.away ? NONE : this.state?.notes);
  #earlier = $derived(this.away?.earlier ?? this.state?.earlier ?? false);
  #streams = $derived(
    (this.away ? NONE : (this.state?.streaming ?? []))
      .map(({ message, block, kind }) => JSON.stringify([message, block, kind]))
      .join("\n"),
  );
  readonly rows = $derived.by(() => {
    void this.#streams;
    if (!this.#messages || !this.#shownTurns || !this.#calls || !this.#questions || !this.#notes) return [];
    return rowsOf({
      messages: this.#messages,
      turns: this.#shownTurns,
      calls: this.#calls,
      questions: this.#questions,
      notes: this.#notes,
      earlier: this.#earlier,
      streaming: this.#streams === "" ? [] : this.#streams.split("\n").map(readStream),
    });
  });
  readonly status = $derived(this.state?.info.status ?? "idle");
  readonly busy = $derived(this.status === "running" || this.status === "waiting");
  /**
   * Another one whenever the tasks may be others: a turn began or ended, or the session began anew with a fresh
   * snapshot, as it does after going to another task.
   */
  readonly taskMoment = $derived.by(() => {
    const last = this.#turns?.at(-1);
    return `${this.#taskChanges} ${last?.id ?? ""} ${last?.ended_at ?? ""}`;
  });

  constructor(id: string, ended: () => void) {
    this.id = id;
    this.begun = begunIn(id);
    this.folds = foldsOf(id);
    this.#ended = ended;
    this.begin();
  }

  /** (Re)opens the session. */
  begin(): void {
    this.#following?.stop();
    this.problem = null;
    const applied: typeof apply = (state, update) => {
      if (update.type === "snapshot" || (update.type === "event" && changesTasks(update.envelope.event)))
        this.#taskChanges += 1;
      if (update.type === "event" && update.envelope.event.type === "message_added")
        sentElsewhere(this.id, update.envelope.event.message);
      return apply(state, update);
    };
    this.#following = follow<SessionState>({ type: "session", id: this.id }, applied, {
      state: (state) => {
        if (state.questions !== this.state?.questions) this.begun.keep(state.questions.map((question) => question.id));
        this.state = state;
        const wanted = this.#wanted;
        this.#wanted = null;
        if (wanted !== null) void this.jump(wanted);
      },
      ended: () => this.#ended(),
      fault: (error) => {
        this.problem = error;
        // The person opens it anew.
        return "wait";
      },
    });
  }

  /** Ends the subscription. */
  close(): void {
    this.#following?.stop();
  }

  /** Opens the time machine. */
  openTime(at: TimePlace): void {
    this.timeAt ??= at;
  }

  /** Closes the time machine. */
  closeTime(): void {
    this.timeAt = null;
  }

  /** Whether another session can go on from a message of this one. */
  readonly mayBranch = $derived(this.state !== null && this.state.info.source !== "demo" && this.state.fork === null);

  /** What the model said and did in a turn, as far as it is shown. */
  answersOf(turn: string): readonly Message[] {
    return (this.#messages ?? []).filter((message) => message.turn === turn && message.role === "assistant");
  }

  /** Loads the page before the first message that is shown. */
  async loadEarlier(): Promise<void> {
    const part = this.away;
    const first = (part ?? this.state)?.messages[0];
    if (!first || !(part ?? this.state)?.earlier || this.loadingEarlier) return;
    this.loadingEarlier = true;
    try {
      const page = await call("sessions", "messages", { session: this.id, before: first.id, limit: PAGE });
      if (part === null) this.#following?.change((state) => prepend(state, page));
      else if (this.away === part) this.away = before(part, page);
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.loadingEarlier = false;
    }
  }

  /** While an earlier part is read: loads the page after it. Where that reaches what was there, both become one. */
  async loadLater(): Promise<void> {
    const part = this.away;
    const last = part?.messages.at(-1);
    if (!part || !last || this.loadingLater) return;
    this.loadingLater = true;
    try {
      const place = { type: "after", message: last.id } as const;
      const { page, later } = await call("transcripts", "read_transcript", { session: this.id, place, limit: PAGE });
      if (this.away === part) this.#show(after(part, page), later);
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.loadingLater = false;
    }
  }

  /** Brings a message into view; of what is not loaded, the part around it. */
  async jump(message: string): Promise<void> {
    const shown = (part: { messages: readonly Message[] } | null): boolean =>
      part?.messages.some((known) => known.id === message) ?? false;
    if (!shown(this.away)) {
      if (shown(this.state)) this.away = null;
      else if (this.state?.earlier) {
        try {
          const place = { type: "around", message } as const;
          const found = await call("transcripts", "read_transcript", { session: this.id, place, limit: PAGE });
          this.#show(partOf(found.page), found.later);
        } catch (error) {
          toasts.fail(error);
          return;
        }
      }
    }
    this.target = { message };
  }

  /** Back to the newest messages. */
  comeBack(): void {
    this.away = null;
    this.target = null;
  }

  /** Shows a part: apart from the newest messages, or joined with them where the two meet. */
  #show(part: Part, later: boolean): void {
    const first = this.state?.messages[0];
    const meets = first && part.messages.some((message) => message.id === first.id);
    if (later && !meets) {
      this.away = part;
      return;
    }
    this.away = null;
    const page = { ...part, messages: [...part.messages], turns: [...part.turns], calls: [...part.calls.values()] };
    this.#following?.change((state) => prepend(state, page));
  }

  /** Brings a message into view as soon as the session is there. */
  jumpWhenOpen(message: string): void {
    this.#wanted = message;
  }

  send(blocks: Block[]) {
    this.comeBack();
    this.sent += 1;
    return call("sessions", "send", { session: this.id, blocks });
  }

  stop = (): Promise<boolean> => this.#try(call("sessions", "stop", { session: this.id }));
  retry = (): Promise<boolean> => this.#try(call("sessions", "retry_turn", { session: this.id }));

  /** Ends a command that runs in the background. */
  stopCommand(handle: string): Promise<boolean> {
    return this.#try(call("sessions", "stop_command", { session: this.id, handle }));
  }

  /** Answers a question, once: what is pressed after that is no second answer, unless the first did not arrive. */
  async answer(question: string, answer: Answer): Promise<boolean> {
    if (this.#given.has(question)) return true;
    this.#given.add(question);
    const asked = call("sessions", "answer_question", { session: this.id, question, answer });
    const taken = await this.#answered(asked, { type: "question", id: question });
    if (!taken) this.#given.delete(question);
    return taken;
  }

  editQueued(queued: string, blocks: Block[]): Promise<boolean> {
    return this.#try(call("sessions", "edit_queued", { session: this.id, queued, blocks }));
  }

  removeQueued(queued: string): Promise<boolean> {
    return this.#try(call("sessions", "remove_queued", { session: this.id, queued }));
  }

  setMode(mode: Mode): Promise<boolean> {
    return this.#try(call("sessions", "set_mode", { session: this.id, mode }));
  }

  setModel(model: string): Promise<boolean> {
    return this.#try(call("sessions", "set_model", { session: this.id, model }));
  }

  setEffort(effort: Effort | null): Promise<boolean> {
    return this.#try(call("sessions", "set_effort", { session: this.id, effort }));
  }

  /** What going on with another model would cost; null when that cannot be told. */
  async estimateSwitch(model: string): Promise<SwitchCost | null> {
    return call("sessions", "estimate_switch", { session: this.id, model }).catch(() => null);
  }

  answerBudget(answer: BudgetAnswer): Promise<boolean> {
    return this.#answered(call("sessions", "answer_budget", { session: this.id, answer }), { type: "budget" });
  }

  async #answered(request: Promise<unknown>, about: Answered): Promise<boolean> {
    const taken = await this.#try(request);
    if (taken) this.answered = { about };
    return taken;
  }

  /** The model calls of a turn, oldest first. */
  async callsOf(turn: string): Promise<readonly BilledCall[]> {
    return (await call("ledger", "calls_of_turn", { session: this.id, turn })).calls;
  }

  /** What a turn that ended cost; null before that was read. */
  costOf(turn: TurnView): Spending | null {
    return this.#costs.get(costKey(turn)) ?? null;
  }

  /** Reads what a turn that ended cost, once. Where it cannot be read the line goes without; its details say why. */
  async readCost(turn: TurnView): Promise<void> {
    const key = costKey(turn);
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    try {
      this.#costs.set(key, sumOfCalls(await this.callsOf(turn.id)));
    } catch {
      this.#asked.delete(key);
    }
  }

  /** How many files the task of a turn changed; null before it is known. */
  changedBy(turn: string): number | null {
    return this.#changed.get(turn) ?? null;
  }

  /** Reads what the tasks changed, once for each moment. Where it cannot be read nothing is said of it. */
  async readTasks(): Promise<void> {
    const moment = this.taskMoment;
    if (this.#tasksRead === moment) return;
    this.#tasksRead = moment;
    try {
      const { tasks } = await call("time", "get_task_tree", { session: this.id });
      for (const { turn, ended_at, changed } of tasks) {
        if (turn !== null && ended_at !== null) this.#changed.set(turn, changed);
      }
    } catch {
      this.#tasksRead = null;
    }
  }

  /** The person works in the page; the agent's next act in it waits. */
  takePage(): Promise<boolean> {
    return this.#try(call("browser", "take_page", { session: this.id }));
  }

  /** The agent goes on in the page. */
  giveBackPage(): Promise<boolean> {
    return this.#try(call("browser", "give_back_page", { session: this.id }));
  }

  setFolder(folder: string): Promise<boolean> {
    return this.#try(call("sessions", "set_folder", { session: this.id, folder }));
  }

  async #try(request: Promise<unknown>): Promise<boolean> {
    try {
      await request;
      return true;
    } catch (error) {
      toasts.fail(error);
      return false;
    }
  }
}

/** A turn that was tried again ends anew and costs more. */
function costKey(turn: TurnView): string {
  return `${turn.id} ${turn.ended_at ?? ""}`;
}

function readStream(line: string) {
  const [message, block, kind] = JSON.parse(line) as [string, number, SessionState["streaming"][number]["kind"]];
  return { message, block, kind, start: 0, text: "", bytes: 0 };
}

/** The session on screen: its state and all requests about it. */
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
import { type Part, after, before, partOf } from "$lib/state/transcript-part";
import { type SessionState, apply, prepend } from "$lib/state/session";
import { sumOfCalls } from "$lib/state/spending";
import type { TimeMachineTarget } from "$lib/state/timeline";
import { SvelteMap } from "svelte/reactivity";
import { type AnswerDrafts, answerDraftsOf } from "./answer-drafts.svelte";
import { sentElsewhere } from "./drafts.svelte";
import { foldsOf } from "./folds.svelte";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

/** The number of messages of an earlier page. */
const PAGE = 200;
/** A constant empty list. */
const NONE: readonly never[] = [];

/** Returns whether the event changes the time machine's steps. */
function changesTasks(event: Event): boolean {
  return event.type === "tasks_changed" || event.type === "went_to";
}

/** The subject of an answer: a question by its id, or the budget. */
export type AnsweredRequest = { type: "question"; id: string } | { type: "budget" };

export class Conversation {
  readonly id: string;
  state = $state.raw<SessionState | null>(null);
  /** Why the session cannot be shown or stopped updating. */
  problem = $state.raw<ApiError | null>(null);
  loadingEarlier = $state(false);
  loadingLater = $state(false);
  /** The rows the person opened or closed, by key. */
  readonly folds: SvelteMap<string, boolean>;
  /** Unsent answers of the session's cards. */
  readonly answerDrafts: AnswerDrafts;
  /** Incremented when the person sends something, so that the view scrolls to it. */
  sent = $state(0);
  /** The last answer, so that the focus moves on from its card; each answer makes a new object. */
  answered = $state.raw<{ about: AnsweredRequest } | null>(null);
  /** The costs of ended turns, once loaded; see [`readCost`]. */
  readonly #costs = new SvelteMap<string, Spending>();
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- requested ids, never rendered
  readonly #requested = new Set<string>();
  /** The number of files changed by each turn, once loaded; see [`readTasks`]. */
  readonly #changed = new SvelteMap<string, number>();
  /** The moment of the steps loaded last. */
  #tasksRead: string | null = null;
  /**
   * An earlier part shown instead of the newest; null while the newest is shown. Updates continue in the background.
   */
  away = $state.raw<Part | null>(null);
  /** The message to scroll to; each jump makes a new object. */
  target = $state.raw<{ message: string } | null>(null);
  /** Where the time machine was opened; null while closed. */
  timeAt = $state.raw<TimeMachineTarget | null>(null);
  #taskChanges = $state(0);
  #jumpTarget: string | null = null;
  #following: Following<SessionState> | undefined;
  /** The questions answered in this window. Not reactive. */
  // eslint-disable-next-line svelte/prefer-svelte-reactivity
  readonly #answeredQuestions = new Set<string>();
  readonly #ended: () => void;

  // Rows depend on which blocks stream, not on their text: a text-only batch does not recompute them. An
  // earlier part shows only its messages: waiting and running items belong to the end.
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
   * Changes whenever the steps may have changed: a turn started or ended, or the session restarted with a fresh
   * snapshot, as after a restore.
   */
  readonly taskMoment = $derived.by(() => {
    const last = this.#turns?.at(-1);
    return `${this.#taskChanges} ${last?.id ?? ""} ${last?.ended_at ?? ""}`;
  });

  constructor(id: string, onend: () => void) {
    this.id = id;
    this.answerDrafts = answerDraftsOf(id);
    this.folds = foldsOf(id);
    this.#ended = onend;
    this.begin();
  }

  /** (Re)subscribes to the session. */
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
        if (state.questions !== this.state?.questions)
          this.answerDrafts.keep(state.questions.map((question) => question.id));
        this.state = state;
        const target = this.#jumpTarget;
        this.#jumpTarget = null;
        if (target !== null) void this.jump(target);
      },
      ended: () => this.#ended(),
      fault: (error) => {
        this.problem = error;
        // The person reopens it.
        return "wait";
      },
    });
  }

  /** Ends the subscription. */
  close(): void {
    this.#following?.stop();
  }

  /** Opens the time machine. */
  openTime(target: TimeMachineTarget): void {
    this.timeAt ??= target;
  }

  /** Closes the time machine. */
  closeTime(): void {
    this.timeAt = null;
  }

  /** Whether a session can branch from a message of this one. */
  readonly mayBranch = $derived(this.state !== null && this.state.info.source !== "demo" && this.state.fork === null);

  /** Returns the loaded messages of the model in a turn. */
  answersOf(turn: string): readonly Message[] {
    return (this.#messages ?? []).filter((message) => message.turn === turn && message.role === "assistant");
  }

  /** Loads the page before the first loaded message. */
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

  /** Loads the page after an earlier part; joins them once it reaches the newest messages. */
  async loadLater(): Promise<void> {
    const part = this.away;
    const last = part?.messages.at(-1);
    if (!part || !last || this.loadingLater) return;
    this.loadingLater = true;
    try {
      const position = { type: "after", message: last.id } as const;
      const { page, later } = await call("transcripts", "read_transcript", {
        session: this.id,
        place: position,
        limit: PAGE,
      });
      if (this.away === part) this.#show(after(part, page), later);
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.loadingLater = false;
    }
  }

  /** Scrolls to a message; loads the part around it if needed. */
  async jump(message: string): Promise<void> {
    const containsMessage = (part: { messages: readonly Message[] } | null): boolean =>
      part?.messages.some((candidate) => candidate.id === message) ?? false;
    if (!containsMessage(this.away)) {
      if (containsMessage(this.state)) this.away = null;
      else if (this.state?.earlier) {
        try {
          const position = { type: "around", message } as const;
          const part = await call("transcripts", "read_transcript", { session: this.id, place: position, limit: PAGE });
          this.#show(partOf(part.page), part.later);
        } catch (error) {
          toasts.fail(error);
          return;
        }
      }
    }
    this.target = { message };
  }

  /** Returns to the newest messages. */
  comeBack(): void {
    this.away = null;
    this.target = null;
  }

  /** Shows a part: apart from the newest messages, or joined with them if the two meet. */
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

  /** Scrolls to a message once the session is loaded. */
  jumpWhenOpen(message: string): void {
    this.#jumpTarget = message;
  }

  send(blocks: Block[]) {
    this.comeBack();
    this.sent += 1;
    return call("sessions", "send", { session: this.id, blocks });
  }

  stop = (): Promise<boolean> => this.#try(call("sessions", "stop", { session: this.id }));
  retry = (): Promise<boolean> => this.#try(call("sessions", "retry_turn", { session: this.id }));

  /** Stops a background command. */
  stopCommand(handle: string): Promise<boolean> {
    return this.#try(call("sessions", "stop_command", { session: this.id, handle }));
  }

  /** Answers a question, once: later presses are ignored unless the first answer failed to arrive. */
  async answer(question: string, answer: Answer): Promise<boolean> {
    if (this.#answeredQuestions.has(question)) return true;
    this.#answeredQuestions.add(question);
    const request = call("sessions", "answer_question", { session: this.id, question, answer });
    const answered = await this.#answered(request, { type: "question", id: question });
    if (!answered) this.#answeredQuestions.delete(question);
    return answered;
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

  /** Estimates the cost of switching to another model; null if unknown. */
  async estimateSwitch(model: string): Promise<SwitchCost | null> {
    return call("sessions", "estimate_switch", { session: this.id, model }).catch(() => null);
  }

  answerBudget(answer: BudgetAnswer): Promise<boolean> {
    return this.#answered(call("sessions", "answer_budget", { session: this.id, answer }), { type: "budget" });
  }

  async #answered(request: Promise<unknown>, about: AnsweredRequest): Promise<boolean> {
    const accepted = await this.#try(request);
    if (accepted) this.answered = { about };
    return accepted;
  }

  /** Returns the model calls of a turn, oldest first. */
  async callsOf(turn: string): Promise<readonly BilledCall[]> {
    return (await call("ledger", "calls_of_turn", { session: this.id, turn })).calls;
  }

  /** Returns the cost of an ended turn; null until loaded. */
  costOf(turn: TurnView): Spending | null {
    return this.#costs.get(costKey(turn)) ?? null;
  }

  /** Loads the cost of an ended turn, once. On failure the row omits it; its details show the reason. */
  async readCost(turn: TurnView): Promise<void> {
    const key = costKey(turn);
    if (this.#requested.has(key)) return;
    this.#requested.add(key);
    try {
      this.#costs.set(key, sumOfCalls(await this.callsOf(turn.id)));
    } catch {
      this.#requested.delete(key);
    }
  }

  /** Returns the number of files a turn changed; null until loaded. */
  changedBy(turn: string): number | null {
    return this.#changed.get(turn) ?? null;
  }

  /** Loads the changes of the steps, once per moment. On failure nothing is shown. */
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

  /** Hands the page to the person; the agent's next action in it waits. */
  takePage(): Promise<boolean> {
    return this.#try(call("browser", "take_page", { session: this.id }));
  }

  /** Returns the page to the agent. */
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

/** Returns a turn's cache key: a retried turn ends again and costs more. */
function costKey(turn: TurnView): string {
  return `${turn.id} ${turn.ended_at ?? ""}`;
}

function readStream(line: string) {
  const [message, block, kind] = JSON.parse(line) as [string, number, SessionState["streaming"][number]["kind"]];
  return { message, block, kind, start: 0, text: "", bytes: 0 };
}

/** Answers requests in a replay: enough of the core to use every part of the page by hand. */
import { apply as applyList, type ListState } from "$lib/state/list";
import { type SessionState, apply as applySession } from "$lib/state/session";
import { hostReply } from "./desktop";
import { FakeActivity } from "./fake-activity";
import { appReply } from "./fake-app";
import { FakeBrowser, browserAt, browserPictures } from "./fake-browser";
import { FakeChats } from "./fake-chats";
import { FakeHome } from "./fake-home";
import { fakeCalls, fakeReport, fakeSwitch } from "./fake-ledger";
import { FakeLibrary } from "./fake-library";
import { FIRST_PAGE, type History, pageBefore, partAt } from "./fake-bulk";
import { modelReply } from "./fake-models";
import { failure, newId } from "./fake-parts";
import { pictureOf } from "./fake-pictures";
import { FakeRules } from "./fake-rules";
import { FakeSchedule } from "./fake-schedule";
import { FakeTranscripts, foldersOf, hitsOf, listed, withRead } from "./fake-sessions";
import { FakeSettings } from "./fake-settings";
import { emptyState, snapshotOf } from "./fake-states";
import { FakeTime, timeFailure } from "./fake-time";
import { FakeTrash } from "./fake-trash";
import { answered, stopped } from "./fake-turns";
import type {
  BackgroundCommand,
  Draft,
  Event,
  LedgerRequest,
  Message,
  Request,
  SessionInfo,
  SessionRequest,
  TimeRequest,
  Topic,
  Update,
} from "./types";

/** Recorded sessions that tasks started. */
const OF_TASKS: ReadonlySet<string> = new Set(["Watch flat listings in Santos", "Check the staging certificates"]);

export class FakeCore {
  /** Uploaded pictures, by hash. */
  readonly pictures = browserPictures();
  readonly browser: FakeBrowser;
  readonly schedule: FakeSchedule;
  readonly #scene: string;
  readonly #recorded = new Map<string, Update[]>();
  readonly #states = new Map<string, SessionState>();
  readonly #listeners = new Map<string, Set<(batch: Update[]) => void>>();
  readonly #removed = new Map<string, SessionInfo>();
  readonly #seqs = new Map<string, number>();
  readonly #time = new FakeTime(new URLSearchParams(location.search).has("full") ? "beyond" : "within");
  readonly #trash = new FakeTrash((totals) => this.emit({ type: "trash" }, { type: "trash_changed", totals }));
  readonly library: FakeLibrary;
  readonly activity = new FakeActivity({
    sessions: () => this.#list.sessions,
    places: () => this.#settings.settings.live_turns,
    stop: (session) => this.#change(session, { status: "idle" }),
    tell: (state) => this.publish("activity", { type: "activity", state }),
  });
  readonly #home = new FakeHome();
  readonly #rules = new FakeRules((policy) => this.publish("settings", { type: "policy", policy }));
  readonly #transcripts = new FakeTranscripts({
    open: (id) => this.#state(id),
    add: (info, state) => {
      this.#states.set(`session/${info.id}`, { ...state, info });
      this.emit({ type: "sessions" }, { type: "session_listed", info });
    },
    id: newId,
  });
  #list: ListState = { seq: 0, sessions: [], total: 0, troubles: new Map() };
  /** The draft of the session not started yet. */
  #newDraft: Draft = { text: "", attachments: [], foreign: false };
  readonly #settings: FakeSettings;
  readonly #chats: FakeChats;
  readonly #history: History | null;

  constructor(
    scene: string,
    updates: readonly Update[],
    topicOf: (update: Update) => string | null,
    history: History | null = null,
  ) {
    this.#scene = scene;
    this.#history = history;
    this.library = new FakeLibrary(
      scene === "first-run" ? "new" : "used",
      (state) => this.publish("library", { type: "library", state }),
      (what, onrestore) => this.#trash.put(what, onrestore),
    );
    this.browser = new FakeBrowser(
      browserAt(scene),
      (state) => this.publish("browser", { type: "browser", state }),
      (session, hand) => {
        const { page } = this.#state(session);
        if (page) this.publish(`session/${session}`, { type: "page", page: { ...page, hand } });
      },
    );
    for (const update of updates) {
      const name = topicOf(update);
      if (name !== null) this.#recorded.set(name, [...(this.#recorded.get(name) ?? []), update]);
    }
    for (const update of this.#recorded.get("sessions") ?? []) {
      const outcome = applyList(this.#list, update);
      if (outcome.type === "applied" && outcome.state) this.#list = outcome.state;
    }
    // The recordings predate tasks.
    this.#list = {
      ...this.#list,
      sessions: this.#list.sessions.map((info) =>
        OF_TASKS.has(info.title) ? { ...info, source: "task" as const } : info,
      ),
    };
    this.schedule = new FakeSchedule(
      this.#list.sessions,
      (state) => this.publish("tasks", { type: "tasks", state }),
      (what, onrestore) => this.#trash.put(what, onrestore),
      () => this.#settings.settings.tasks.at_their_times,
    );
    this.#list = withRead(this.#list);
    this.#settings = new FakeSettings(this.#recorded.get("settings")?.[0], (snapshot) =>
      this.emit({ type: "settings" }, { type: "settings_changed", snapshot }),
    );
    this.#chats = new FakeChats(this.#settings, (state) => this.publish("settings", { type: "chats", state }));
  }

  /** Returns the first updates of a new subscription: the current state, then the recorded updates after it. */
  begin(name: string): Update[] {
    if (name === "sessions") {
      const { seq, sessions, total } = this.#list;
      const troubles = [...this.#recorded.values()].flat().filter((update) => update.type === "trouble");
      const first = sessions.slice(0, FIRST_PAGE);
      return [{ type: "snapshot", snapshot: { topic: "sessions", seq, sessions: first, total } }, ...troubles];
    }
    if (name === "settings") {
      const seq = this.#seqs.get(name) ?? 0;
      return [
        { type: "snapshot", snapshot: { topic: "settings", seq, snapshot: this.#settings.snapshot } },
        { type: "policy", policy: this.#rules.state },
        { type: "chats", state: this.#chats.state },
      ];
    }
    if (name === "ledger") return [{ type: "snapshot", snapshot: { topic: "ledger" } }];
    if (name === "trash") {
      const seq = this.#seqs.get(name) ?? 0;
      return [{ type: "snapshot", snapshot: { topic: "trash", seq, totals: this.#trash.totals } }];
    }
    if (name === "library") return [{ type: "snapshot", snapshot: { topic: "library", state: this.library.state } }];
    if (name === "tasks") return [{ type: "snapshot", snapshot: { topic: "tasks", state: this.schedule.state } }];
    if (name === "activity") return [{ type: "snapshot", snapshot: { topic: "activity", state: this.activity.state } }];
    if (name === "browser") return [{ type: "snapshot", snapshot: { topic: "browser", state: this.browser.state } }];
    const state = this.#states.get(name);
    if (state) {
      const page: Update[] = state.page ? [{ type: "page", page: state.page }] : [];
      return [{ type: "snapshot", snapshot: { topic: "session", ...snapshotOf(state) } }, ...page];
    }
    const recorded = this.#recorded.get(name);
    if (recorded) return recorded;
    const info = this.#list.sessions.find((session) => `session/${session.id}` === name);
    if (!info) return [{ type: "ended" }];
    return [{ type: "snapshot", snapshot: { topic: "session", ...snapshotOf(emptyState(info)) } }];
  }

  listen(name: string, deliver: (batch: Update[]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(deliver);
    const first = this.begin(name)[0];
    if (first) this.#note(name, first);
    return () => listeners.delete(deliver);
  }

  publish(name: string, update: Update): void {
    this.#note(name, update);
    for (const deliver of this.#listeners.get(name) ?? []) deliver([update]);
  }

  #note(name: string, update: Update): void {
    if (!name.startsWith("session/")) return;
    const outcome = applySession(this.#states.get(name) ?? null, update);
    if (outcome.type === "applied" && outcome.state) this.#states.set(name, outcome.state);
  }

  /** Publishes an event as the next one of its topic. */
  emit(topic: Topic, event: Event): void {
    const name = topic.type === "session" ? `session/${topic.id}` : topic.type;
    const saveReplay =
      topic.type === "session"
        ? (this.#states.get(name)?.seq ?? 0)
        : topic.type === "sessions"
          ? this.#list.seq
          : (this.#seqs.get(name) ?? 0);
    const envelope = { topic, seq: saveReplay + 1, at: Date.now(), v: 1, event };
    if (topic.type === "sessions") {
      const outcome = applyList(this.#list, { type: "event", envelope });
      if (outcome.type === "applied" && outcome.state) this.#list = outcome.state;
    }
    if (topic.type === "settings" || topic.type === "trash") this.#seqs.set(name, saveReplay + 1);
    this.publish(name, { type: "event", envelope });
  }

  #change(id: string, change: Partial<SessionInfo>): void {
    this.#replace({ ...this.#info(id), ...change });
  }

  #replace(info: SessionInfo): void {
    // A session never opened before opens in its current state.
    const recorded = this.#recorded.get(`session/${info.id}`)?.[0];
    if (recorded?.type === "snapshot" && recorded.snapshot.topic === "session") recorded.snapshot.info = info;
    this.emit({ type: "session", id: info.id }, { type: "session_changed", info });
    this.emit({ type: "sessions" }, { type: "session_listed", info });
    this.activity.changed();
  }

  #ledger(call: LedgerRequest): unknown {
    if (call.type === "report_spending") return fakeReport(call.from, call.to, this.#list.sessions);
    const state = this.#state(call.session);
    const turn = state.turns.find((turn) => turn.id === call.turn);
    const entry = this.#settings.models.find((model) => model.id === state.info.model);
    return { calls: turn ? fakeCalls(turn, entry ?? null) : [] };
  }

  #timeMachine(call: TimeRequest): unknown {
    if (new URLSearchParams(location.search).has("no-time")) throw timeFailure;
    const answer = this.#time.answer(call, "session" in call ? this.#state(call.session).turns : []);
    // Like the core, replays the session from the restored step.
    if (call.type === "restore_task") {
      const name = `session/${call.session}`;
      this.publish(name, {
        type: "snapshot",
        snapshot: { topic: "session", ...snapshotOf(this.#state(call.session)) },
      });
    }
    return answer;
  }

  #info(id: string): SessionInfo {
    const info = this.#states.get(`session/${id}`)?.info ?? this.#list.sessions.find((session) => session.id === id);
    if (!info) throw failure("session.unknown");
    return info;
  }

  answer(request: Request): Promise<unknown> {
    try {
      if (this.#scene === "start-failed" && !this.#home.replaced) return Promise.resolve(this.#home.damaged(request));
      if (this.#home.over) throw failure("store.closed");
      if (request.domain === "home") {
        return Promise.resolve(
          this.#home.answer(request.call, this.#list.sessions.length, this.#settings.models.length),
        );
      }
      if (request.domain === "sessions") return Promise.resolve(this.#sessions(request.call));
      if (request.domain === "models") return modelReply(request.call, this.#settings);
      if (request.domain === "app") return Promise.resolve(appReply(request.call, this.#settings, this));
      if (request.domain === "trash") return Promise.resolve(this.#trash.answer(request.call));
      if (request.domain === "transcripts") {
        const part = request.call.type === "read_transcript" ? partAt(this.#history, request.call) : null;
        return part ? Promise.resolve(part) : this.#transcripts.answer(request.call);
      }
      if (request.domain === "ledger") return Promise.resolve(this.#ledger(request.call));
      if (request.domain === "policy") return Promise.resolve(this.#rules.answer(request.call));
      if (request.domain === "time") return Promise.resolve(this.#timeMachine(request.call));
      if (request.domain === "skills") return Promise.resolve(this.library.skills(request.call));
      if (request.domain === "schedule") return Promise.resolve(this.schedule.answer(request.call));
      if (request.domain === "activity") return Promise.resolve(this.activity.answer(request.call));
      if (request.domain === "chats") return Promise.resolve(this.#chats.answer(request.call));
      if (request.domain === "memory") return Promise.resolve(this.library.memory(request.call));
      if (request.domain === "browser") {
        const answer = this.browser.answer(request.call);
        if (request.call.type === "choose_browser") this.#settings.change({ browser: request.call.choice });
        return Promise.resolve(answer);
      }
      return Promise.resolve(hostReply(request.call));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #sessions(call: SessionRequest): unknown {
    switch (call.type) {
      case "list_sessions":
        return listed(this.#list.sessions, call);
      case "list_folders":
        return { folders: foldersOf(this.#list.sessions) };
      case "search_sessions":
        return { hits: this.#search(call.query).slice(0, call.limit) };
      case "mark_read":
        return (this.#change(call.session, { read_at: Date.now() }), {});
      case "start_session":
      case "start_demo":
        return this.#start(call);
      case "open_session":
        return snapshotOf(this.#state(call.session));
      case "messages":
        return pageBefore(this.#history, call.session, call.before, call.limit);
      case "get_picture":
        return pictureOf(call.path);
      case "send":
        return this.#send(call.session, call.blocks);
      case "stop":
        // Releases the page at once.
        this.publish(`session/${call.session}`, { type: "page", page: null });
        for (const event of stopped(this.#state(call.session), Date.now()))
          this.emit({ type: "session", id: call.session }, event);
        this.#change(call.session, { status: "idle" });
        return {};
      case "stop_command": {
        const commands = this.#state(call.session).commands;
        if (!commands.some((command) => command.handle === call.handle && command.ended_at === null))
          throw failure("background.gone");
        const stopped = (command: BackgroundCommand): BackgroundCommand =>
          command.handle === call.handle ? { ...command, state: { type: "killed" }, ended_at: Date.now() } : command;
        this.emit({ type: "session", id: call.session }, { type: "commands_changed", commands: commands.map(stopped) });
        return {};
      }
      case "answer_question":
        for (const event of answered(this.#state(call.session), call.question, call.answer, Date.now()))
          this.emit({ type: "session", id: call.session }, event);
        if (this.#state(call.session).questions.length === 0) this.#change(call.session, { status: "running" });
        return {};
      case "edit_queued":
      case "remove_queued": {
        const queue = this.#state(call.session).queue.flatMap((queued) => {
          if (queued.id !== call.queued) return [queued];
          return call.type === "edit_queued" ? [{ ...queued, blocks: call.blocks }] : [];
        });
        this.emit({ type: "session", id: call.session }, { type: "queue_changed", queue });
        return {};
      }
      case "answer_budget":
        this.emit({ type: "session", id: call.session }, { type: "budget_answered" });
        return (this.#change(call.session, { status: call.answer === "stop" ? "idle" : "running" }), {});
      case "set_effort": {
        const { effort: _, ...info } = this.#info(call.session);
        return (this.#replace(call.effort === null ? info : { ...info, effort: call.effort }), {});
      }
      case "estimate_switch": {
        const entry = (id: string | null) => this.#settings.models.find((model) => model.id === id) ?? null;
        const state = this.#state(call.session);
        return fakeSwitch(state.contextTokens, entry(call.model), entry(state.info.model));
      }
      case "set_mode":
        return (this.#change(call.session, { mode: call.mode }), {});
      case "set_model":
        return (this.#change(call.session, { model: call.model }), {});
      case "set_folder":
        return (this.#change(call.session, { folder: call.folder }), {});
      case "rename_session":
        return (this.#change(call.session, { title: call.title }), {});
      case "pin_session":
        return (this.#change(call.session, { pinned: call.pinned }), {});
      case "delete_session":
        this.#removed.set(call.session, this.#info(call.session));
        this.emit({ type: "sessions" }, { type: "session_removed", id: call.session });
        return {};
      case "restore_session": {
        const info = this.#removed.get(call.session);
        if (!info) throw failure("session.unknown");
        this.emit({ type: "sessions" }, { type: "session_listed", info });
        return info;
      }
      case "set_draft":
        this.#states.set(`session/${call.session}`, { ...this.#state(call.session), draft: call.draft });
        return {};
      case "get_draft":
        return this.#state(call.session).draft;
      case "set_new_draft":
        this.#newDraft = call.draft;
        return {};
      case "get_new_draft":
        return this.#newDraft;
      case "retry_turn":
        return {};
      default:
        return call satisfies never;
    }
  }

  #state(id: string): SessionState {
    return this.#states.get(`session/${id}`) ?? emptyState(this.#info(id));
  }

  #search(query: string) {
    const messages = [...this.#recorded.values()].flat().flatMap((update) => {
      if (update.type !== "snapshot" || update.snapshot.topic !== "session") return [];
      const { info, page } = update.snapshot;
      return page.messages.map((message) => ({ info, message }));
    });
    const old = this.#history?.messages.map((message) => ({ info: this.#info(this.#history?.info.id ?? ""), message }));
    return hitsOf(old ?? messages, query);
  }

  #start(call: Extract<SessionRequest, { type: "start_session" | "start_demo" }>): SessionInfo {
    const demo = call.type === "start_demo";
    const text = demo ? "Demo" : call.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
    const info: SessionInfo = {
      id: newId(),
      title: (demo ? undefined : call.title) ?? text.slice(0, 40),
      folder: demo ? "/tmp/octo-demo" : call.folder,
      profile: demo ? "general" : call.profile,
      mode: demo ? "ask" : call.mode,
      model: demo ? null : (call.model ?? this.#settings.models[0]?.id ?? null),
      source: demo ? "demo" : "window",
      pinned: false,
      status: "idle",
      created_at: Date.now(),
      updated_at: Date.now(),
      read_at: Date.now(),
      ...(!demo && call.effort !== undefined ? { effort: call.effort } : {}),
      usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
    };
    this.emit({ type: "sessions" }, { type: "session_listed", info });
    if (!demo) this.#send(info.id, call.blocks);
    return info;
  }

  #send(id: string, blocks: Message["blocks"]): unknown {
    const state = this.#state(id);
    const first = blocks[0];
    if (first?.type === "text" && first.text.trim() === "/new") return { type: "new" };
    if (state.info.status !== "idle" && state.info.status !== "failed") {
      const queued = { id: newId(), blocks, at: Date.now() };
      this.emit({ type: "session", id }, { type: "queue_changed", queue: [...state.queue, queued] });
      return { type: "queued", id: queued.id };
    }
    const turn = newId();
    // Includes the queued messages.
    const newMessages = [...state.queue.map((queued) => queued.blocks), blocks].map((blocks): Message => {
      return { id: newId(), turn, role: "user", blocks, meta: { origin: "person", at: Date.now() } };
    });
    const name = `session/${id}`;
    if (!this.#states.has(name)) this.#states.set(name, emptyState(state.info));
    const open = this.#states.get(name) ?? state;
    this.#states.set(name, { ...open, messages: [...open.messages, ...newMessages], queue: [] });
    this.publish(name, { type: "snapshot", snapshot: { topic: "session", ...snapshotOf(this.#state(id)) } });
    return { type: "started" };
  }
}

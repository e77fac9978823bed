/** A core of the page's own, and the lines a page and its core exchange. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tmpdir } from "node:os";
import type { ModelEntry, Request, SessionInfo, Topic, Update } from "../src/lib/ipc/generated/protocol.ts";
import { CoreProcess, type Reply } from "./process.ts";

/** A line of the page; `n` numbers it. */
export type PageLine =
  | { readonly n: number; readonly request: Request }
  | { readonly n: number; readonly subscribe: Topic }
  | { readonly n: number; readonly unsubscribe: number };

/** A line for the page: a reply to its line `n`, or updates of the subscription that line began. */
export type CoreLine =
  | { readonly n: number; readonly response: unknown }
  | { readonly n: number; readonly error: unknown }
  | { readonly n: number; readonly updates: readonly Update[] };

/** Writes what a page begins with into its core and home: requests, files, and the model's replies. */
export type Seed = (core: PageCore) => Promise<void>;

let last = 0;

/** A core with a temporary home and a scripted model. */
export class PageCore {
  readonly #process: CoreProcess;
  readonly #number = (last += 1);
  readonly #root: string;
  /** The address of the scripted model. */
  modelUrl = "";
  /** The session the page begins with: the one started last. */
  opens: string | null = null;

  private constructor(process: CoreProcess) {
    this.#process = process;
    this.#root = mkdtempSync(join(tmpdir(), "octo-page-"));
    mkdirSync(this.folder);
  }

  /** Starts a core on an empty home and seeds it. */
  static async start(process: CoreProcess, seed: Seed): Promise<PageCore> {
    const core = new PageCore(process);
    const started = await process.call(core.#number, { start: core.home });
    core.modelUrl = (started as { model_url: string }).model_url;
    await seed(core);
    return core;
  }

  /** Octo's home. */
  get home(): string {
    return join(this.#root, "octo");
  }

  /** The folder sessions work in. */
  get folder(): string {
    return join(this.#root, "harbor");
  }

  /** Writes a file below the folder sessions work in and returns its path. */
  write(name: string, content: string | Buffer): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  /** Sends a request as another window would. */
  request(request: Request): Promise<unknown> {
    return this.#process.call(this.#number, { request });
  }

  /** Queues replies of the model. */
  async replies(...replies: Reply[]): Promise<void> {
    await this.#process.call(this.#number, { script: replies });
  }

  /** Opens a gate that holds a reply. */
  async open(gate: string): Promise<void> {
    await this.#process.call(this.#number, { open: gate });
  }

  subscribe(topic: Topic, onBatch: (batch: Update[]) => void): Promise<() => void> {
    return this.#process.subscribe(this.#number, topic, onBatch);
  }

  /** Saves the scripted model as a model of the person's. */
  async addModel(model = "claude-sonnet-4-5"): Promise<ModelEntry> {
    const draft = { id: null, protocol: "anthropic" as const, base_url: this.modelUrl, model, key: null };
    return (await this.request({ domain: "models", call: { type: "save_model", draft } })) as ModelEntry;
  }

  /** Starts a session with a message. */
  async startSession(text: string, more: { title?: string; mode?: "ask" | "ask_risky" | "autonomous" } = {}) {
    const blocks = [{ type: "text" as const, text }];
    const { title, mode = "ask_risky" } = more;
    const options = { folder: this.folder, profile: "general" as const, mode, model: null, blocks };
    const call = { type: "start_session" as const, ...options, ...(title === undefined ? {} : { title }) };
    const session = (await this.request({ domain: "sessions", call })) as SessionInfo;
    this.opens = session.id;
    return session;
  }

  /** Waits until an update of a topic, old or new, fits. */
  async until(topic: Topic, matches: (update: Update) => boolean): Promise<void> {
    let notifyFound: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (notifyFound = resolve));
    const stop = await this.subscribe(topic, (batch) => {
      if (batch.some(matches)) notifyFound();
    });
    await waiting;
    stop();
  }

  /** Waits until a session is idle. */
  async untilIdle(session: string): Promise<void> {
    await this.until({ type: "sessions" }, (update) => {
      if (update.type === "snapshot" && update.snapshot.topic === "sessions")
        return update.snapshot.sessions.some(({ id, status }) => id === session && status === "idle");
      if (update.type !== "event" || update.envelope.event.type !== "session_listed") return false;
      const { id, status } = update.envelope.event.info;
      return id === session && status === "idle";
    });
  }

  /** Returns a blob or a live picture with its type, or null. */
  async blob(path: string): Promise<{ type: string; bytes: Buffer } | null> {
    const to = join(this.#root, "blob");
    try {
      const blob = (await this.#process.call(this.#number, { blob: { path, to } })) as { media_type: string };
      return { type: blob.media_type, bytes: readFileSync(to) };
    } catch {
      return null;
    }
  }

  /** Ends and starts the core again on the same home. */
  async restart(): Promise<void> {
    await this.#process.call(this.#number, { restart: {} });
  }

  /** Ends the core and removes its home. */
  async end(): Promise<void> {
    await this.#process.call(this.#number, { stop: {} });
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** Connects a page to a core. Returns what to do with the page's lines, and how to end its subscriptions. */
export function connect(core: PageCore, send: (line: CoreLine) => void) {
  const subscriptions = new Map<number, () => void>();
  const reply = (n: number, outcome: Promise<unknown>): void =>
    void outcome.then(
      (response) => send({ n, response }),
      (error: unknown) => send({ n, error }),
    );
  return {
    take(line: PageLine): void {
      if ("request" in line) return reply(line.n, core.request(line.request));
      if ("unsubscribe" in line) {
        subscriptions.get(line.unsubscribe)?.();
        subscriptions.delete(line.unsubscribe);
        return;
      }
      const { n } = line;
      const subscribed = core.subscribe(line.subscribe, (updates) => send({ n, updates }));
      reply(
        n,
        subscribed.then((stop) => void subscriptions.set(n, stop)),
      );
    },
    end(): void {
      for (const stop of subscriptions.values()) stop();
      subscriptions.clear();
    },
  };
}

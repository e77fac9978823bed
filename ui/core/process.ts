/** The real core for the page in a browser: the process `page_core`, which runs many cores with a home each. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Request, Topic, Update } from "../src/lib/ipc/generated/protocol.ts";

const TARGET = process.env["CARGO_TARGET_DIR"] ?? fileURLToPath(new URL("../../target", import.meta.url));

/** What a core can be asked; `page_core.rs` documents each. */
export type CoreCall =
  | { readonly start: string }
  | { readonly stop: Record<string, never> }
  | { readonly restart: Record<string, never> }
  | { readonly request: Request }
  | { readonly subscribe: Topic }
  | { readonly unsubscribe: number }
  | { readonly blob: { readonly path: string; readonly to: string } }
  | { readonly script: readonly Reply[] }
  | { readonly open: string };

/** A reply of the scripted model. */
export interface Reply {
  readonly parts?: readonly ReplyPart[];
  readonly error?: { readonly status: number; readonly name: string; readonly message: string };
  /** The number of pieces each part is sent in. */
  readonly chunks?: number;
  /** Milliseconds between pieces. */
  readonly pace?: number;
  /** Gates that stop the reply, each after a number of pieces. */
  readonly holds?: readonly (readonly [pieces: number, gate: string])[];
}

export type ReplyPart =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly call: { readonly tool: string; readonly arguments: unknown } };

interface OutputLine {
  readonly id: number;
  readonly response?: unknown;
  readonly error?: unknown;
  readonly updates?: Update[];
}

interface Waiting {
  resolve(response: unknown): void;
  reject(error: unknown): void;
}

/** Returns the path of the program; `OCTO_PAGE_CORE` overrides it. */
function program(): string {
  const path = process.env["OCTO_PAGE_CORE"] ?? join(TARGET, "debug/examples/page_core");
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing: cargo build -p octo-cli --example page_core`);
}

/** A running `page_core`. */
export class CoreProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #subscribers = new Map<number, (batch: Update[]) => void>();
  readonly #ended: Promise<void>;
  #last = 0;

  /** Starts the process. `home` is the home folder of the person it works for. */
  constructor(home: string) {
    this.#child = spawn(program(), [], { env: { ...process.env, HOME: home }, stdio: ["pipe", "pipe", "inherit"] });
    let rest = "";
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as OutputLine);
    });
    this.#ended = new Promise((resolve) => this.#child.once("exit", () => resolve()));
    void this.#ended.then(() => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the core has ended"));
    });
  }

  #take({ id, response, error, updates }: OutputLine): void {
    if (updates) return this.#subscribers.get(id)?.(updates);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(response);
    else waiting?.reject(error);
  }

  /** Asks a core and returns its reply; rejects with an `ApiError`. */
  call(core: number, call: CoreCall): Promise<unknown> {
    return this.#send((this.#last += 1), core, call);
  }

  #send(id: number, core: number, call: CoreCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, core, ...call })}\n`);
    });
  }

  /** Subscribes to a topic of a core; the returned function ends the subscription. */
  async subscribe(core: number, topic: Topic, onBatch: (batch: Update[]) => void): Promise<() => void> {
    const id = (this.#last += 1);
    this.#subscribers.set(id, onBatch);
    await this.#send(id, core, { subscribe: topic });
    return () => {
      if (this.#subscribers.delete(id)) void this.call(core, { unsubscribe: id }).catch(() => undefined);
    };
  }

  /** Ends every core and the process. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}

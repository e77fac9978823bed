/**
 * The real core as a transport for the page in a plain browser: lines to the process that `npm run dev` or a test
 * started. The desktop's abilities stay fake. Not part of a production build.
 */
import type { CoreLine, PageLine } from "../../../core/bridge.ts";
import { hostReply } from "./desktop";
import type { Transport } from "./index";
import type { Request, Update } from "./types";

/** Carries lines to the core and back. */
export interface Wire {
  send(line: PageLine): void;
  listen(onLine: (line: CoreLine) => void): void;
  /** The address of a blob. */
  blobUrl(path: string): string;
}

interface Waiting {
  resolve(response: unknown): void;
  reject(error: unknown): void;
}

/** Returns the transport over a wire. */
export function remote(wire: Wire): Transport {
  let last = 0;
  const waiting = new Map<number, Waiting>();
  const subscribers = new Map<number, (batch: Update[]) => void>();
  wire.listen((line) => {
    if ("updates" in line) return subscribers.get(line.n)?.([...line.updates]);
    const { resolve, reject } = waiting.get(line.n) ?? {};
    waiting.delete(line.n);
    if ("error" in line) reject?.(line.error);
    else resolve?.(line.response);
  });
  const ask = (line: PageLine): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(line.n, { resolve, reject });
      wire.send(line);
    });
  // Lets a script send requests as another window.
  addEventListener("fake", (event) => {
    const { request } = (event as CustomEvent<{ request?: Request }>).detail;
    if (request) void ask({ n: (last += 1), request });
  });
  return {
    request(request: Request) {
      // Lets a script observe every request, including those to the system.
      dispatchEvent(new CustomEvent("asked", { detail: request }));
      if (request.domain !== "host") return ask({ n: (last += 1), request });
      try {
        return Promise.resolve(hostReply(request.call));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async subscribe(topic, onBatch) {
      const n = (last += 1);
      subscribers.set(n, onBatch);
      await ask({ n, subscribe: topic });
      return () => {
        subscribers.delete(n);
        wire.send({ n: (last += 1), unsubscribe: n });
      };
    },
    onFileDrop: () => () => undefined,
    blobUrl: (path) => wire.blobUrl(path),
  };
}

/** Returns a wire over a socket that a test answers. */
export async function socketWire(address: string): Promise<Wire> {
  const socket = new WebSocket(address);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  return {
    send: (line) => socket.send(JSON.stringify(line)),
    listen: (onLine) => socket.addEventListener("message", ({ data }) => onLine(JSON.parse(String(data)) as CoreLine)),
    blobUrl: (path) => `/blobs/${path}`,
  };
}

/** Returns a wire over the development server's own connection. */
export function serverWire(hot: NonNullable<ImportMeta["hot"]>, seed: string): Wire {
  // Tells the pages of a seed apart, across reloads too.
  const page = crypto.randomUUID();
  return {
    send: (line) => hot.send("core:line", { page, seed, line }),
    listen: (onLine) =>
      hot.on("core:line", (message: { page: string; line: CoreLine }) => {
        if (message.page === page) onLine(message.line);
      }),
    blobUrl: (path) => `/blobs/${seed}/${path}`,
  };
}

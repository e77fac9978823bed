/** The core of component tests: a replay, the page's requests, and overridden answers. */
import { useTransport } from "$lib/ipc";
import { replay } from "$lib/ipc/fake";
import type { Request } from "$lib/ipc/types";

type Call = Request["call"];
type Core = Awaited<ReturnType<typeof replay>>["core"];

export class ReplayCore {
  /** The requests since the scene started. */
  readonly requests: Call[] = [];
  /** The type of request that fails, as on a full disk. */
  refuse: Call["type"] | null = null;
  /** Overrides the replay's answer; undefined leaves it to the replay. */
  instead: ((call: Call) => unknown) | null = null;
  #core: Core | null = null;

  /** Starts answering from a scene. */
  async begin(scene: string): Promise<void> {
    const transport = await replay(scene);
    this.#core = transport.core;
    this.requests.length = 0;
    this.refuse = null;
    this.instead = null;
    useTransport({
      ...transport,
      request: (request) => {
        this.requests.push(request.call);
        if (request.call.type === this.refuse) {
          return Promise.reject({ key: "store.full", args: {}, retryable: true });
        }
        const answer = this.instead?.(request.call);
        return answer === undefined ? transport.request(request) : Promise.resolve(answer);
      },
    });
  }

  get core(): Core {
    if (!this.#core) throw new Error("no scene began");
    return this.#core;
  }

  /** The requests of a type. */
  of(type: Call["type"]): Call[] {
    return this.requests.filter((call) => call.type === type);
  }

  /** The last request of a type. */
  last<T extends Call["type"]>(type: T): Extract<Call, { type: T }> | undefined {
    return this.requests.findLast((call): call is Extract<Call, { type: T }> => call.type === type);
  }
}

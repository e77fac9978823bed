/** The core that component tests stand on: a replay, what the page asked it, and what it answers otherwise. */
import { useTransport } from "$lib/ipc";
import { replay } from "$lib/ipc/fake";
import type { Request } from "$lib/ipc/types";

type Call = Request["call"];
type Core = Awaited<ReturnType<typeof replay>>["core"];

export class Replayed {
  /** What was asked since the scene began. */
  readonly asked: Call[] = [];
  /** The type of the requests that fail, as where the disk is full. */
  refuse: Call["type"] | null = null;
  /** What is answered in the place of the replay; undefined leaves it to the replay. */
  instead: ((call: Call) => unknown) | null = null;
  #core: Core | null = null;

  /** Lets a scene answer from now on. */
  async begin(scene: string): Promise<void> {
    const transport = await replay(scene);
    this.#core = transport.core;
    this.asked.length = 0;
    this.refuse = null;
    this.instead = null;
    useTransport({
      ...transport,
      request: (request) => {
        this.asked.push(request.call);
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
    return this.asked.filter((call) => call.type === type);
  }

  /** The last request of a type. */
  last<T extends Call["type"]>(type: T): Extract<Call, { type: T }> | undefined {
    return this.asked.findLast((call): call is Extract<Call, { type: T }> => call.type === type);
  }
}

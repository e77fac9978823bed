// @vitest-environment jsdom
import { provideConversation } from "$lib/app/context";
import { Conversation } from "$lib/app/conversation.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { failure } from "$lib/ipc/fake-parts";
import { mountStage } from "$lib/testing/mount";
import { until, words } from "$lib/testing/dom";
import { type Component, type ComponentProps, flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import Markdown from "./Markdown.svelte";
import UserMessage from "./UserMessage.svelte";

const MAIN = "d0000000000000000000000000000001";
const FOLDER = "/home/mei/code/harbor";

const { replayed, target } = mountStage();
let mounted: Record<string, unknown>[] = [];
let session: Conversation;
/** Whether loaded files decode as pictures. */
let drawable = true;

beforeAll(() => {
  // jsdom does not decode pictures.
  HTMLImageElement.prototype.decode = () => (drawable ? Promise.resolve() : Promise.reject(new Error("no picture")));
});
beforeEach(async () => {
  drawable = true;
  await replayed.begin("main");
  session = await open();
});
afterEach(async () => {
  await clear();
  session.close();
  toasts.list = [];
});

async function open(): Promise<Conversation> {
  const opened = new Conversation(MAIN, () => undefined);
  await until(() => expect(opened.state?.info.folder).toBe(FOLDER));
  return opened;
}

async function clear(): Promise<void> {
  for (const component of mounted) await unmount(component);
  mounted = [];
}

/** Mounts a part of the session's transcript. */
function show<Props extends object>(component: Component<Props>, props: Props): void {
  const inSession: Component<Props> = (internals, props) => {
    provideConversation(() => session);
    return component(internals, props);
  };
  mounted.push(mount(inSession, { target, props, context: new Map() }));
  flushSync();
}

const answer = (text: string, message = "m1"): void =>
  show<ComponentProps<typeof Markdown>>(Markdown, { text, message });
const images = (): HTMLImageElement[] => [...target.querySelectorAll("img")];
const chips = (): string[] => [...target.querySelectorAll(".chip")].map(words);
const findByName = (name: string): HTMLElement => {
  const match = [...target.querySelectorAll("button")].find((button) => words(button) === name);
  if (!match) throw new Error(`no button ${name}`);
  return match;
};

describe("a mentioned file", () => {
  it("in an answer is only revealed in its folder", async () => {
    answer("See [the loop](src/main.rs:42).");
    findByName("the loop").click();
    await until(() =>
      expect(replayed.last("reveal_file")).toEqual({ type: "reveal_file", path: "src/main.rs", folder: FOLDER }),
    );
    expect(replayed.of("open_url")).toEqual([]);
  });

  it("that no longer exists shows an error", async () => {
    answer("See [the loop](gone.rs).");
    findByName("the loop").click();
    await until(() => expect(toasts.list.length).toBe(1));
  });

  it("outside a session is plain text", () => {
    mounted.push(mount(Markdown, { target, props: { text: "See [the loop](src/main.rs)." } }));
    flushSync();
    expect(target.querySelector("button")).toBeNull();
  });

  it("as an attachment is revealed in its folder", async () => {
    const path = "/home/mei/notes/plan.txt";
    show<ComponentProps<typeof UserMessage>>(UserMessage, { blocks: [{ type: "file", path }], at: 1, message: null });
    findByName("plan.txt").click();
    await until(() => expect(replayed.last("reveal_file")).toMatchObject({ path }));
  });
});

describe("a picture of a file", () => {
  it("replaces its chip and is revealed in its folder on a click", async () => {
    answer("![A chart](out/plot.png)");
    expect(chips()).toEqual(["Picture: A chart"]);
    await until(() => expect(images().map(({ alt }) => alt)).toEqual(["A chart"]));
    expect(chips()).toEqual([]);
    expect(images()[0]?.src).toMatch(/^data:image\/png;base64,/);
    expect(replayed.last("get_picture")).toEqual({ type: "get_picture", session: MAIN, path: "out/plot.png" });
    images()[0]?.click();
    await until(() => expect(replayed.last("reveal_file")).toMatchObject({ path: "out/plot.png" }));
  });

  it("that is missing, too large or no picture stays a chip without an error", async () => {
    drawable = false;
    answer("![One](gone.png) ![Two](large.png) ![Three](broken.png)");
    await until(() => expect(replayed.of("get_picture").length).toBe(3));
    await new Promise((resolve) => setTimeout(resolve, 20));
    flushSync();
    expect([chips(), toasts.list.length]).toEqual([["Picture: One", "Picture: Two", "Picture: Three"], 0]);
    findByName("Picture: Two").click();
    await until(() => expect(replayed.last("reveal_file")).toMatchObject({ path: "large.png" }));
  });

  it("in an unsupported format stays a chip", async () => {
    replayed.instead = (call) => (call.type === "get_picture" ? { media: "image/svg+xml", base64: "AAAA" } : undefined);
    answer("![One](a.png)");
    await until(() => expect(replayed.of("get_picture").length).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([chips(), images()]).toEqual([["Picture: One"], []]);
  });

  it("is requested once while its text streams and survives re-rendering", async () => {
    const props = $state({ text: "- ![One](a.png) ![Two](gone.png)", streaming: true, message: "m1" });
    show<ComponentProps<typeof Markdown>>(Markdown, props);
    await until(() => expect(images().length).toBe(1));
    const [first] = images();
    for (const piece of [" and", " more", " words\n- another item", " that goes on"]) {
      props.text += piece;
      flushSync();
      // In the same frame, without a layout jump.
      expect(images()).toEqual([first]);
    }
    props.streaming = false;
    flushSync();
    expect([images()[0] === first, replayed.of("get_picture").length]).toEqual([true, 2]);
  });

  it("is read again for a later answer or a reopened session, not on scrolling back", async () => {
    answer("![One](a.png)");
    await until(() => expect(images().length).toBe(1));
    await clear();
    answer("![One](a.png) ![Same](a.png)");
    await until(() => expect(images().length).toBe(2));
    expect(replayed.of("get_picture").length).toBe(1);
    answer("![One](a.png)", "m2");
    await until(() => expect(images().length).toBe(3));
    expect(replayed.of("get_picture").length).toBe(2);
    await clear();
    session.close();
    session = await open();
    replayed.instead = (call) => {
      if (call.type === "get_picture") throw failure("picture.missing");
      return undefined;
    };
    answer("![One](a.png)");
    await until(() => expect(replayed.of("get_picture").length).toBe(3));
  });
});

// @vitest-environment jsdom
import { sessionList } from "$lib/app/session-list.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { press, until, words, write } from "$lib/testing/dom";
import { beforeEach, describe, expect, it } from "vitest";
import NewSession from "./NewSession.svelte";

const { replayed, show, all, get } = mountStage();
const MIB = 1024 * 1024;

/** Returns an event with files; jsdom has no such events. */
function transferEvent(type: string, part: "clipboardData" | "dataTransfer", files: File[]): Event {
  const event = new Event(type, { bubbles: true, cancelable: true });
  return Object.assign(event, { [part]: { files, types: ["Files"] } });
}

/** Returns a paste event of a web view that gives its page only text. */
function pastedWords(words: string): Event {
  const event = new Event("paste", { bubbles: true, cancelable: true });
  const getData = (type: string): string => (type === "text/plain" ? words : "");
  return Object.assign(event, { clipboardData: { files: [], types: [], getData } });
}

function file(name: string, type: string, bytes = 4): File {
  return new File([new Uint8Array(bytes)], name, { type });
}

beforeEach(async () => {
  toasts.list = [];
  await replayed.begin("main");
  await Promise.all([preferences.begin(), sessionList.begin()]);
  show(NewSession, { place: "/work" });
});

describe("a pasted screenshot", () => {
  it("is shown as a thumbnail, can be removed and is sent as a picture", async () => {
    const field = get(testids.composer);
    field.dispatchEvent(transferEvent("paste", "clipboardData", [file("", "image/png"), file("two.png", "image/png")]));
    await until(() => expect(all(testids.attachment).length).toBe(2));
    const [first, second] = all(testids.attachment);
    expect(first?.querySelector("img")?.getAttribute("src")).toContain("data:image/png");
    expect(words(second as HTMLElement)).toContain("two.png");
    second?.querySelector("button")?.click();
    await until(() => expect(all(testids.attachment).length).toBe(1));
    write(field, "What is this?");
    press(field, "Enter");
    await until(() => expect(replayed.last("start_session")).toBeDefined());
    const blocks = replayed.last("start_session")?.blocks ?? [];
    expect(blocks.map((block) => block.type)).toEqual(["text", "image"]);
    expect(replayed.of("put_blob").length).toBe(2);
  });
});

describe("pasted content that the page cannot read", () => {
  it("is read from the system and attached, while text is left to the field", async () => {
    const field = get(testids.composer);
    const text = pastedWords("Some words");
    field.dispatchEvent(text);
    expect(text.defaultPrevented).toBe(false);
    const other = pastedWords("");
    field.dispatchEvent(other);
    expect(other.defaultPrevented).toBe(true);
    await until(() => expect(all(testids.attachment).length).toBe(1));
    expect(words(all(testids.attachment)[0] as HTMLElement)).toContain("notes.txt");
    expect(replayed.of("read_pasted").length).toBe(1);
    // The draft outlives the component.
    all(testids.attachment)[0]?.querySelector("button")?.click();
  });
});

describe("a rejected attachment", () => {
  it("is named with the limit or the supported formats, and is not sent", async () => {
    const field = get(testids.composer);
    field.dispatchEvent(transferEvent("drop", "dataTransfer", [file("tool.exe", "application/x-msdownload")]));
    await until(() => expect(toasts.list.length).toBe(1));
    expect(toasts.list[0]?.text).toContain("tool.exe");
    expect(toasts.list[0]?.text).toMatch(/PNG.*JPEG.*GIF.*WebP/);
    field.dispatchEvent(transferEvent("drop", "dataTransfer", [file("huge.png", "image/png", 20 * MIB + 1)]));
    await until(() => expect(toasts.list.length).toBe(2));
    expect(toasts.list[1]?.text).toContain("huge.png");
    expect(toasts.list[1]?.text).toContain("20 MiB");
    expect([replayed.of("put_blob"), all(testids.attachment)]).toEqual([[], []]);
  });
});

// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { SessionHit, SessionInfo } from "$lib/ipc/types";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SessionSearch } from "./session-search.svelte";
import { toasts } from "./toasts.svelte";

const COUNT = 350;
let title = "old";
let offsets: number[] = [];
/** The text searches in order of request, with ways to answer them. */
let texts: { call: { query: string; limit: number }; done(answer: unknown): void; failed(error: unknown): void }[] = [];
const transport: Transport = {
  request: ({ call }) => {
    if (call.type === "search_sessions") return new Promise((done, failed) => texts.push({ call, done, failed }));
    if (call.type !== "list_sessions") return Promise.reject(new Error(call.type));
    offsets.push(call.offset);
    const count = Math.max(0, Math.min(call.limit, COUNT - call.offset));
    const sessions = Array.from(
      { length: count },
      (_, index) => ({ id: `${call.offset + index}`, title }) as SessionInfo,
    );
    return Promise.resolve({ sessions, total: COUNT });
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};

beforeEach(() => {
  title = "old";
  offsets = [];
  texts = [];
  toasts.list = [];
  useTransport(transport);
});
/** Returns hits in `count` texts after `titles` titles. */
const hits = (count: number, titles = 0) => ({
  hits: Array.from({ length: titles + count }, (_, index) => {
    const hit = { info: { id: `${index}` }, message: index < titles ? null : `m${index}`, snippet: "", marks: [] };
    return hit as unknown as SessionHit;
  }),
});
const searched = async (count = 1) => {
  await vi.waitFor(() => expect(texts.length).toBe(count));
  const last = texts.at(-1);
  if (!last) throw new Error("no search");
  return last;
};
/** Searches as the sidebar does: the previous search is cancelled. */
let end: () => void = () => undefined;
function startSearch(finding: SessionSearch): void {
  end();
  end = finding.start();
}
afterEach(() => end());
/** Waits until the answers have been processed. */
const settled = () => new Promise((resolve) => setTimeout(resolve));
const read = (finding: SessionSearch, count: number) => vi.waitFor(() => expect(finding.sessions.length).toBe(count));

it("keeps the loaded results when only the list changes", async () => {
  const finding = new SessionSearch();
  finding.query = "words";
  startSearch(finding);
  await read(finding, 100);
  await finding.more();
  await finding.more();
  expect(finding.sessions.length).toBe(300);
  (await searched()).done(hits(0));
  await vi.waitFor(() => expect(finding.searching).toBe(false));
  title = "new";
  offsets = [];
  startSearch(finding);
  expect(finding.searching).toBe(false);
  await vi.waitFor(() => expect(finding.sessions[0]?.title).toBe("new"));
  expect([finding.sessions.length, finding.sessions[299]?.title]).toEqual([300, "new"]);
  expect(offsets).toEqual([0, 100, 200]);
  // Pages loaded in the meantime are kept too.
  startSearch(finding);
  await finding.more();
  await vi.waitFor(() => expect(offsets.at(-1)).toBe(300));
  await read(finding, 350);
});

it("starts at the first page for a new query", async () => {
  const finding = new SessionSearch();
  finding.query = "words";
  startSearch(finding);
  await read(finding, 100);
  await finding.more();
  for (const change of [
    () => (finding.query = "other words"),
    () => (finding.filter = { source: "task" }),
    () => finding.clear(),
  ]) {
    offsets = [];
    change();
    startSearch(finding);
    if (finding.active) {
      expect(finding.searching).toBe(true);
      await read(finding, 100);
      expect(offsets).toEqual([0]);
    } else expect(finding.sessions).toEqual([]);
  }
});

it("searches until titles and texts have answered, showing titles first", async () => {
  const finding = new SessionSearch();
  finding.query = "words";
  startSearch(finding);
  await read(finding, 100);
  expect(finding.searching).toBe(true);
  const search = await searched();
  expect([finding.searching, search.call.query]).toEqual([true, "words"]);
  search.done(hits(30, 2));
  await vi.waitFor(() => expect(finding.searching).toBe(false));
  expect([finding.total, finding.hits.length, finding.cut]).toEqual([COUNT, 30, false]);
  // A filter alone has no words to search texts for.
  finding.query = "";
  finding.filter = { source: "task" };
  startSearch(finding);
  await vi.waitFor(() => expect(finding.searching).toBe(false));
  expect([finding.hits.length, texts.length]).toEqual([0, 1]);
});

it("does not claim that nothing matches if texts could not be searched", async () => {
  const finding = new SessionSearch();
  finding.query = "words";
  startSearch(finding);
  (await searched()).failed({ key: "store.busy", args: {}, retryable: true });
  await vi.waitFor(() => expect(toasts.list.length).toBe(1));
  expect(finding.searching).toBe(true);
});

it("shows fewer hits than it receives if the core has more", async () => {
  const finding = new SessionSearch();
  for (const [count, titles, expectedTitles, cut] of [
    [90, 9, 90, false],
    [90, 10, 89, true],
    [100, 0, 99, true],
  ] as const) {
    finding.query = `${count} ${titles}`;
    startSearch(finding);
    const search = await searched(texts.length + 1);
    expect(search.call.limit).toBe(100);
    search.done(hits(count, titles));
    await vi.waitFor(() => expect([finding.hits.length, finding.cut]).toEqual([expectedTitles, cut]));
  }
  finding.clear();
  startSearch(finding);
  expect([finding.hits.length, finding.cut]).toEqual([0, false]);
});

it("searches texts in time although the list keeps changing", async () => {
  const finding = new SessionSearch();
  finding.query = "words";
  startSearch(finding);
  const changing = setInterval(() => {
    startSearch(finding);
  }, 40);
  const search = await searched().finally(() => clearInterval(changing));
  // A request sent before the last list change still answers the query.
  search.done(hits(3));
  await vi.waitFor(() => expect(finding.hits.length).toBe(3));
});

it("ignores replies to earlier queries and older replies", async () => {
  const finding = new SessionSearch();
  finding.query = "old";
  startSearch(finding);
  const old = await searched();
  finding.query = "new";
  startSearch(finding);
  const first = await searched(2);
  startSearch(finding);
  const second = await searched(3);
  old.done(hits(7));
  second.done(hits(2));
  await vi.waitFor(() => expect(finding.hits.length).toBe(2));
  first.done(hits(1));
  await settled();
  expect(finding.hits.length).toBe(2);
});

// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { SessionInfo } from "$lib/ipc/types";
import { beforeEach, expect, it, vi } from "vitest";
import { Finding } from "./finding.svelte";

const COUNT = 350;
let title = "old";
let offsets: number[] = [];
const transport: Transport = {
  request: ({ call }) => {
    if (call.type !== "list_sessions") return Promise.resolve({ hits: [] });
    offsets.push(call.offset);
    const count = Math.max(0, Math.min(call.limit, COUNT - call.offset));
    const sessions = Array.from({ length: count }, (_, at) => ({ id: `${call.offset + at}`, title }) as SessionInfo);
    return Promise.resolve({ sessions, total: COUNT });
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};

beforeEach(() => {
  title = "old";
  offsets = [];
  useTransport(transport);
});
const read = (finding: Finding, count: number) => vi.waitFor(() => expect(finding.sessions.length).toBe(count));

it("keeps what was found as far as it was loaded when only the list changed", async () => {
  const finding = new Finding();
  finding.query = "words";
  finding.look();
  await read(finding, 100);
  await finding.more();
  await finding.more();
  expect(finding.sessions.length).toBe(300);
  title = "new";
  offsets = [];
  finding.look();
  expect(finding.looking).toBe(false);
  await vi.waitFor(() => expect(finding.sessions[0]?.title).toBe("new"));
  expect([finding.sessions.length, finding.sessions[299]?.title]).toEqual([300, "new"]);
  expect(offsets).toEqual([0, 100, 200]);
  // What was loaded meanwhile is kept too.
  finding.look();
  await finding.more();
  await vi.waitFor(() => expect(offsets.at(-1)).toBe(300));
  await read(finding, 350);
});

it("begins with the first page when something else is looked for", async () => {
  const finding = new Finding();
  finding.query = "words";
  finding.look();
  await read(finding, 100);
  await finding.more();
  for (const change of [
    () => (finding.query = "other words"),
    () => (finding.filter = { source: "task" }),
    () => finding.clear(),
  ]) {
    offsets = [];
    change();
    finding.look();
    if (finding.active) {
      expect(finding.looking).toBe(true);
      await read(finding, 100);
      expect(offsets).toEqual([0]);
    } else expect(finding.sessions).toEqual([]);
  }
});

// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import { mountStage } from "$lib/testing/mount";
import { installStubs, until, within, words, write } from "$lib/testing/dom";
import { testids } from "$lib/testids";
import { flushSync, mount, unmount } from "svelte";
import { expect, it } from "vitest";
import Palette from "./Palette.svelte";

const { target } = mountStage();
installStubs();

/** The pending text searches. */
const pendingSearches: ((hits: unknown) => void)[] = [];
const transport: Transport = {
  request: ({ call }) => {
    if (call.type === "search_sessions") return new Promise((done) => pendingSearches.push(done));
    if (call.type === "list_sessions") return Promise.resolve({ sessions: [], total: 0 });
    if (call.type === "list_commands") return Promise.resolve({ commands: [] });
    return Promise.reject(new Error(call.type));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};

it("shows that nothing was found only once all searches have answered", async () => {
  useTransport(transport);
  const mounted = mount(Palette, { target, props: { id: 0 } });
  flushSync();
  const type = (text: string): void => write(within(target).get(testids.paletteInput), text);
  const nothing = () => target.querySelector(".palette-none");
  const announcement = () => words(target.querySelector("[role=status]") ?? target);
  type("qqqqzzzz");
  expect([nothing(), announcement()]).toEqual([null, ""]);
  await until(() => expect(pendingSearches.length).toBe(1));
  expect([nothing(), announcement()], "texts are still searched").toEqual([null, ""]);
  pendingSearches[0]?.({ hits: [] });
  await until(() => expect(nothing()).not.toBeNull());
  expect(announcement()).not.toBe("");
  // An answer to an earlier query does not end the search.
  type("qqqqzzzzy");
  await until(() => expect(pendingSearches.length).toBe(2));
  type("qqqqzzzzyy");
  pendingSearches[1]?.({ hits: [] });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(nothing()).toBeNull();
  await unmount(mounted);
});

// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { readNotices } from "./notices";

afterEach(() => vi.unstubAllGlobals());

const MIT = "Permission is hereby granted";
const CRATES = {
  parts: [
    { name: "tokio", version: "1.50.0", licence: "MIT", texts: [0] },
    { name: "both", version: "2.0.0", licence: "MIT OR Apache-2.0", texts: [0, 1] },
    { name: "bare", version: "0.1.0", licence: null, texts: [] },
  ],
  texts: [MIT, "Apache License"],
};
const PACKAGES = [{ name: "svelte", version: "5.50.0", identifier: "MIT", text: MIT }];

/** Serves lists by name; any other request finds nothing. */
function serve(lists: Record<string, () => Response>): void {
  vi.stubGlobal("fetch", (url: URL) => {
    const name = /([a-z]+)\.json$/.exec(url.pathname)?.[1] ?? "";
    return Promise.resolve(lists[name]?.() ?? new Response("", { status: 404 }));
  });
}

it("merges both lists by name, each part with all its texts", async () => {
  serve({ crates: () => Response.json(CRATES), page: () => Response.json(PACKAGES) });
  const { parts, full } = await readNotices();
  expect(full).toBe(true);
  expect(parts.map(({ name }) => name)).toEqual(["bare", "both", "svelte", "tokio"]);
  expect(parts[1]?.texts).toEqual([MIT, "Apache License"]);
  expect(parts[0]).toMatchObject({ licence: null, texts: [] });
});

it.each([
  ["is missing", {}],
  ["is a page", { crates: () => new Response("<!doctype html>") }],
])("says so where a list %s", async (_, lists) => {
  serve({ page: () => Response.json(PACKAGES), ...lists });
  const { parts, full } = await readNotices();
  expect(full).toBe(false);
  expect(parts.map(({ name }) => name)).toEqual(["svelte"]);
});

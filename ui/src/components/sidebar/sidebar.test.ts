// @vitest-environment jsdom
import { library } from "$lib/app/library.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import type { SessionInfo } from "$lib/ipc/types";
import { testids } from "$lib/testids";
import { mounted } from "$lib/testing/mounted";
import { until } from "$lib/testing/stage";
import { t } from "$lib/words/words.svelte";
import { flushSync } from "svelte";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import Sidebar from "./Sidebar.svelte";

const { replayed, target, show, all, get } = mounted();

beforeAll(() => {
  // A list draws what is in view: here all of it is.
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(readonly told: (entries: unknown[]) => void) {}
      observe(target: Element) {
        const height = target.matches(".side-list") ? 900 : 28;
        queueMicrotask(() => this.told([{ target, contentRect: { width: 240, height } }]));
      }
      unobserve() {}
      disconnect() {}
    },
  );
  Object.defineProperty(HTMLElement.prototype, "offsetParent", { get: () => document.body });
});
beforeEach(async () => {
  await replayed.begin("main");
  await preferences.begin();
  await library.begin();
  show(Sidebar, {});
  await until(() => expect(all(testids.sessionRow).length).toBeGreaterThan(0));
});

describe("renaming a session in its row", () => {
  const input = () => target.querySelector<HTMLInputElement>(".row-field input");
  async function rename(): Promise<{ info: SessionInfo; field: HTMLInputElement }> {
    const row = get(testids.sessionRow);
    const info = library.sessions.find(({ id }) => id === row.dataset["session"]);
    row.dispatchEvent(new KeyboardEvent("keydown", { key: "F2", bubbles: true }));
    const item = [...target.querySelectorAll<HTMLElement>(".menu-item")].find((known) =>
      known.textContent?.includes(t("session.rename")),
    );
    item?.click();
    await until(() => expect(input()).toBeTruthy());
    const field = input();
    if (!field || !info) throw new Error("no field");
    await until(() => expect(field.value).toBe(info.title));
    await Promise.resolve();
    field.focus();
    field.value = "half a na";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
    return { info, field };
  }

  it("keeps what is typed whatever happens in the list", async () => {
    const { info, field } = await rename();
    for (const title of [info.title, "named elsewhere"]) {
      replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: { ...info, title } });
      flushSync();
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect([input(), field.value]).toEqual([field, "half a na"]);
    }
  });

  it("is taken where the person presses elsewhere, and leaves the focus there", async () => {
    await rename();
    get(testids.search).focus();
    await until(() => expect(input()).toBeNull());
    await until(() => expect(replayed.last("rename_session")?.title).toBe("half a na"));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(document.activeElement).toBe(get(testids.search));
  });

  it("ends by keys with the focus in the row", async () => {
    for (const key of ["Escape", "Enter"]) {
      const { info, field } = await rename();
      field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const focused = () => (document.activeElement as HTMLElement).dataset["session"];
      await until(() => expect(focused()).toBe(info.id));
    }
    expect(replayed.of("rename_session").length).toBe(1);
  });
});

// @vitest-environment jsdom
import { preferences } from "$lib/app/preferences.svelte";
import { testids } from "$lib/testids";
import { renderAllRows } from "$lib/testing/fake-layout";
import { mountStage } from "$lib/testing/mount";
import { press, until } from "$lib/testing/dom";
import { flushSync } from "svelte";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import TrashView from "./TrashView.svelte";

const { replayed, show, get, all } = mountStage();
const PICKED = "/home/mei/rescued";

beforeAll(() => renderAllRows(".pane"));

/** The row of the entry whose original path is taken. */
let row: HTMLElement;
beforeEach(async () => {
  await replayed.begin("main");
  await preferences.begin();
  show(TrashView, {});
  await until(() => expect(all(testids.trashRow)[0]?.textContent).toContain("retry_old.rs"));
  row = get(testids.trashRow);
  row.focus();
  flushSync();
});

const dialog = () => get(testids.trashDialog) as HTMLDialogElement;
const restoreRequest = () => replayed.last("restore_trash");
function picks(path: string | null): void {
  replayed.instead = (call) => (call.type === "pick_folder" ? { type: "folder", path } : undefined);
}
function click(within: HTMLElement, id: string): void {
  within.querySelector<HTMLElement>(`[data-testid="${id}"]`)?.click();
  flushSync();
}

describe("an item whose original location is occupied", () => {
  it("can be restored to another location after Enter finds it occupied", async () => {
    const id = row.dataset["entry"] ?? "";
    press(row, "Enter");
    await until(() => expect(dialog().open).toBe(true));
    expect(restoreRequest()).toMatchObject({ ids: [id], to: null, on_conflict: "ask" });

    // Cancelling the folder picker keeps the question open.
    picks(null);
    click(dialog(), testids.trashElsewhere);
    await until(() => expect(replayed.of("pick_folder").length).toBe(1));
    await Promise.resolve();
    expect([dialog().open, replayed.of("restore_trash").length]).toEqual([true, 1]);

    picks(PICKED);
    click(dialog(), testids.trashElsewhere);
    await until(() => expect(restoreRequest()).toMatchObject({ ids: [id], to: PICKED, on_conflict: "ask" }));
    await until(() => expect(all(testids.trashRow).some((row) => row.dataset["entry"] === id)).toBe(false));
    expect(dialog().open).toBe(false);
  });

  it("can be restored to another location from its preview", async () => {
    const id = row.dataset["entry"] ?? "";
    await until(() => get(testids.trashElsewhere));
    picks(PICKED);
    click(get(testids.trashPreview), testids.trashElsewhere);
    await until(() => expect(restoreRequest()).toMatchObject({ ids: [id], to: PICKED, on_conflict: "ask" }));
  });

  it("asks again if the other location is occupied too", async () => {
    const id = row.dataset["entry"] ?? "";
    const present = { path: `${PICKED}/retry_old.rs`, form: "file", size: 1, modified: null };
    replayed.instead = (call) => {
      if (call.type === "pick_folder") return { type: "folder", path: PICKED };
      return call.type === "restore_trash" && call.on_conflict === "ask"
        ? { outcomes: [{ type: "taken", id, present }] }
        : undefined;
    };
    press(row, "Enter");
    await until(() => expect(dialog().open).toBe(true));
    click(dialog(), testids.trashElsewhere);
    await until(() => expect(restoreRequest()?.to).toBe(PICKED));
    await until(() => expect(dialog().open).toBe(true));
    click(dialog(), testids.trashKeepBoth);
    await until(() => expect(restoreRequest()).toMatchObject({ ids: [id], to: PICKED, on_conflict: "keep_both" }));
  });
});

// @vitest-environment jsdom
import { toasts } from "$lib/app/toasts.svelte";
import type { DatabaseBackup, Request } from "$lib/ipc/types";
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { until, words } from "$lib/testing/dom";
import { beforeEach, describe, expect, it } from "vitest";
import App from "../../App.svelte";

const { replayed, show, all, get } = mountStage();
const ASIDE = "/home/mei/.octo/octo.db-damaged-2026-11-23-141502";

/** A database that stays damaged until it is replaced. */
async function damaged(
  backup: DatabaseBackup | null,
  replace: () => unknown = () => ({ aside: ASIDE }),
): Promise<void> {
  let repaired = false;
  await replayed.begin("main");
  const args = { path: "/home/mei/.octo/octo.db", backup: backup?.path ?? "" };
  const why = { key: backup ? "store.damaged" : "store.damaged_no_backup", args, retryable: false, code: "damaged" };
  replayed.instead = (call: Request["call"]) => {
    if (repaired) return undefined;
    if (call.type === "look_at_damage") return { backup };
    if (call.type !== "replace_database") return Promise.reject(why);
    const answer = replace();
    repaired = !(answer instanceof Promise);
    return answer;
  };
  show(App, {});
  await until(() => get(testids.damagedReplace));
}

const backup: DatabaseBackup = {
  path: "/home/mei/.octo/backups/octo-9-1795442102000.db",
  at: new Date(2026, 10, 23, 14, 15).getTime(),
  sessions: 12,
};

describe("a damaged database", () => {
  beforeEach(() => {
    toasts.list = [];
  });

  it("is replaced by its dated backup after confirmation", async () => {
    await damaged(backup);
    expect(words(get(testids.startFailure))).toContain("12 sessions");
    expect(words(get(testids.damagedReplace))).toMatch(/Restore the backup of .*23.*14:15/);
    get(testids.damagedReplace).click();
    expect((get(testids.damagedDialog) as HTMLDialogElement).open).toBe(true);
    expect(replayed.of("replace_database")).toEqual([]);
    get(testids.damagedConfirm).click();
    await until(() => get(testids.search));
    expect(replayed.of("replace_database")).toEqual([{ type: "replace_database", backup: backup.path }]);
    expect(toasts.list.map((toast) => toast.text)).toEqual([`The damaged database is kept as ${ASIDE}.`]);
  });

  it("is replaced by an empty one if there is no backup", async () => {
    await damaged(null);
    expect(words(get(testids.startFailure))).toContain("There is no usable backup.");
    expect(words(get(testids.damagedReplace))).toBe("Start with an empty database");
    get(testids.damagedReplace).click();
    get(testids.damagedConfirm).click();
    await until(() => get(testids.search));
    expect(replayed.last("replace_database")).toEqual({ type: "replace_database", backup: null });
  });

  it("stays in place with an error if it cannot be replaced", async () => {
    await damaged(backup, () => Promise.reject({ key: "home.change_in_use", args: {}, retryable: false }));
    get(testids.damagedReplace).click();
    get(testids.damagedConfirm).click();
    await until(() => expect(words(get(testids.damagedDialog))).toContain("Close it, then try again."));
    expect(replayed.of("look_at_damage").length).toBe(2);
    expect(all(testids.search)).toEqual([]);
  });
});

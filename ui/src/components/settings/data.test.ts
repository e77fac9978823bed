// @vitest-environment jsdom
import { openRequests } from "$lib/app/open-requests.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { updates } from "$lib/app/updates.svelte";
import { hostReply } from "$lib/ipc/desktop";
import type { Ability, HostReply } from "$lib/ipc/types";
import { testids } from "$lib/testids";
import { settingsStage } from "$lib/testing/settings.svelte";
import { until } from "$lib/testing/dom";
import { t } from "$lib/words/words.svelte";
import { flushSync } from "svelte";
import { describe, expect, it } from "vitest";

const { replayed, target, open, close, all, get } = settingsStage();
const { requests } = replayed;

describe("a backup to restore", () => {
  it("shows its content and is restored only after confirmation", async () => {
    await open("data");
    await until(() => expect((get(testids.dataRestore) as HTMLButtonElement).disabled).toBe(false));
    get(testids.dataRestore).click();
    await until(() => expect(get(testids.copyDialog).textContent).toContain("41 sessions"));
    for (const text of ["0.1.0", "/code/picked", t("data.restore.keys")])
      expect(get(testids.copyDialog).textContent).toContain(text);
    expect(requests.some((call) => call.type === "restore_home")).toBe(false);
    get(testids.copyRestore).click();
    await until(() => expect(get(testids.dataPlan).dataset["plan"]).toBe("restore"));
    await until(() => expect(document.activeElement).toBe(get(testids.dataRestart)));
    expect(get(testids.dataPlan).textContent).toContain("-before-");
    expect(requests.find((call) => call.type === "restore_home")).toMatchObject({ from: "/home/mei/code/picked" });
    expect(all(testids.dataRestore).length + all(testids.dataMove).length).toBe(0);
    get(testids.dataRestart).click();
    await until(() => expect(requests.some((call) => call.type === "restart")).toBe(true));
    get(testids.dataPlanCancel).click();
    await until(() => expect(all(testids.dataPlan)).toEqual([]));
    expect(get(testids.dataRestore)).toBeTruthy();
  });

  it("shows why it cannot be restored, and may have no version", async () => {
    history.replaceState(null, "", "/?fast&copy=old");
    await open("data");
    await until(() => expect((get(testids.dataRestore) as HTMLButtonElement).disabled).toBe(false));
    get(testids.dataRestore).click();
    await until(() => expect(get(testids.copyDialog).textContent).toContain(t("data.restore.unknown")));
    replayed.refuse = "restore_home";
    get(testids.copyRestore).click();
    await until(() => expect(all(testids.copyDialog)[0]?.querySelector("[role=alert]")).toBeTruthy());
    expect(target.querySelectorAll("[role=alert]")).toHaveLength(1);
    expect(all(testids.dataPlan)).toEqual([]);
  });

  it("from a newer Octo is refused with a reason", async () => {
    history.replaceState(null, "", "/?fast&copy=newer");
    await open("data");
    await until(() => expect((get(testids.dataRestore) as HTMLButtonElement).disabled).toBe(false));
    get(testids.dataRestore).click();
    await until(() => expect(target.querySelector("[role=alert]")?.textContent).toContain("newer Octo"));
    expect(all(testids.copyDialog)).toEqual([]);
  });
});

describe("a new location for Octo's folder", () => {
  it("is confirmed before the move is planned", async () => {
    await open("data");
    await until(() => expect((get(testids.dataMove) as HTMLButtonElement).disabled).toBe(false));
    get(testids.dataMove).click();
    await until(() => expect(get(testids.dataMove).textContent).toContain(t("data.move.confirm")));
    expect(requests.some((call) => call.type === "move_home")).toBe(false);
    await until(() => expect(document.activeElement?.textContent).toBe(t("data.move.cancel")));
    const question = document.activeElement?.getAttribute("aria-describedby") ?? "";
    expect(document.getElementById(question)?.textContent).toContain("/code/picked");
    get(testids.dataMove).click();
    await until(() => expect(get(testids.dataPlan).dataset["plan"]).toBe("move"));
    expect(requests.find((call) => call.type === "move_home")).toMatchObject({ to: "/home/mei/code/picked" });
  });

  it("that is not empty is refused with a reason", async () => {
    history.replaceState(null, "", "/?fast&copy=full");
    await open("data");
    await until(() => expect((get(testids.dataMove) as HTMLButtonElement).disabled).toBe(false));
    get(testids.dataMove).click();
    await until(() => expect(get(testids.dataMove).textContent).toContain(t("data.move.confirm")));
    get(testids.dataMove).click();
    await until(() => expect(target.querySelector("[role=alert]")?.textContent).toContain("/code/picked"));
    expect(all(testids.dataPlan)).toEqual([]);
  });

  it("cannot be chosen while the environment variable sets it, and says why", async () => {
    history.replaceState(null, "", "/?fast&home=fixed");
    await open("data");
    await until(() => expect(target.textContent).toContain("OCTO_HOME"));
    expect((get(testids.dataMove) as HTMLButtonElement).disabled).toBe(true);
  });

  it("leaves the former folder, which is deleted only after confirmation", async () => {
    history.replaceState(null, "", "/?fast&kept&left");
    await replayed.begin("main");
    await open("data");
    await until(() => expect(all(testids.dataFormer).length).toBe(1));
    get(testids.dataFormerDelete).click();
    flushSync();
    await until(() => expect(document.activeElement?.textContent).toBe(t("data.kept.keep")));
    expect(document.activeElement?.getAttribute("aria-label")).toContain("-before-2026-11-20");
    expect(requests.some((call) => call.type === "drop_kept_home")).toBe(false);
    expect(get(testids.dataFormer).textContent).toContain(t("data.kept.ask"));
    get(testids.dataFormerDelete).click();
    await until(() => expect(all(testids.dataFormer)).toEqual([]));
    expect(target.textContent).toContain("diary.md");
  });
});

describe("updates", () => {
  /** Sets whether the build has an update source. */
  function build(ability: Ability): void {
    replayed.instead = (call) => {
      if (call.type !== "get_desktop") return undefined;
      const reply = hostReply(call) as Extract<HostReply, { type: "desktop" }>;
      return { ...reply, state: { ...reply.state, updates: ability } };
    };
  }

  it("are checked automatically only with consent", async () => {
    build({ type: "able" });
    await open("about");
    await until(() => expect(all(testids.updateAutomatic).length).toBe(1));
    expect(preferences.settings?.desktop.updates.by_itself).toBe("off");
    get(testids.updateAutomatic).click();
    await until(() => expect(preferences.settings?.desktop.updates.by_itself).toBe("on"));
    expect(requests.some((call) => call.type === "look_for_update" || call.type === "install_update")).toBe(false);
  });

  it("are unavailable in builds without an update address", async () => {
    await open("about");
    await until(() => expect(target.textContent).toContain("has no update server"));
    expect(all(testids.updateAutomatic)).toEqual([]);
    expect((get(testids.updateCheck) as HTMLButtonElement).disabled).toBe(true);
  });

  it("are announced once with their notes, without installing", async () => {
    build({ type: "able" });
    await openRequests.run({
      type: "update_found",
      offer: { version: "9.1.0", notes: "**Herons** nest.", released: null },
    });
    expect(toasts.list.at(-1)?.text).toContain("9.1.0");
    await open("about");
    await until(() => expect(get(testids.updateOffer).textContent).toContain("Herons"));
    expect(requests.some((call) => call.type === "install_update")).toBe(false);
    updates.offer = null;
  });

  it("cannot be installed during a check, also after returning to the page", async () => {
    build({ type: "able" });
    const offer = (version: string) => ({ version, notes: "", released: null });
    await openRequests.run({ type: "update_found", offer: offer("9.1.0") });
    const desktop = replayed.instead;
    let answerCheck: ((reply: unknown) => void) | undefined;
    replayed.instead = (call) =>
      call.type === "look_for_update" ? new Promise((resolve) => (answerCheck = resolve)) : desktop?.(call);
    const install = () => get(testids.updateInstall) as HTMLButtonElement;
    const checkButton = () => get(testids.updateCheck) as HTMLButtonElement;
    await open("about");
    await until(() => expect(checkButton().disabled).toBe(false));
    expect(install().disabled).toBe(false);
    checkButton().click();
    await until(() => expect(install().disabled).toBe(true));
    await close();
    await open("about");
    expect(install().disabled).toBe(true);
    await updates.install("9.1.0");
    answerCheck?.({ type: "update", offer: offer("9.2.0") });
    await until(() => expect(install().disabled).toBe(false));
    expect(get(testids.updateOffer).textContent).toContain("9.2.0");
    expect(requests.some((call) => call.type === "install_update")).toBe(false);
    updates.offer = null;
  });

  it("show their progress and can be cancelled", async () => {
    build({ type: "able" });
    await openRequests.run({ type: "update_found", offer: { version: "9.1.0", notes: "", released: null } });
    const desktop = replayed.instead;
    let stop: ((error: unknown) => void) | undefined;
    let total: number | null = null;
    replayed.instead = (call) => {
      if (call.type === "install_update") return new Promise((_, reject) => (stop = reject));
      if (call.type === "get_update_download")
        return { type: "update_download", download: { version: "9.1.0", came: 5_000_000, of: total } };
      return desktop?.(call);
    };
    await open("about");
    await until(() => expect(all(testids.updateInstall).length).toBe(1));
    get(testids.updateInstall).click();
    get(testids.updateInstall).click();
    await until(() => expect(get(testids.updateDownload).textContent).toBe("5.0 MB so far"));
    total = 20_000_000;
    await until(() => expect(get(testids.updateDownload).textContent).toBe("5.0 MB of 20 MB"));
    expect(target.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow")).toBe("25");
    expect((get(testids.updateInstall) as HTMLButtonElement).disabled).toBe(true);
    get(testids.updateCancel).click();
    await until(() => expect(requests.some((call) => call.type === "cancel_update")).toBe(true));
    stop?.({ key: "updates.given_up", args: { version: "9.1.0" }, retryable: false });
    await until(() => expect(all(testids.updateDownload)).toEqual([]));
    expect(toasts.list.at(-1)?.text).toContain("Nothing was changed");
    expect((get(testids.updateInstall) as HTMLButtonElement).disabled).toBe(false);
    expect(requests.filter((call) => call.type === "install_update")).toHaveLength(1);
    updates.offer = null;
  });
});

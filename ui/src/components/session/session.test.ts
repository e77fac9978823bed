// @vitest-environment jsdom
import { commands } from "$lib/app/actions.svelte";
import { dialogs } from "$lib/app/dialogs.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { bestMatch } from "$lib/state/palette";
import { testids } from "$lib/testids";
import { MAIN, PERMISSION, sessionStage } from "$lib/testing/session-stage";
import { press, until, write } from "$lib/testing/dom";
import { t } from "$lib/words/words.svelte";
import { flushSync } from "svelte";
import { describe, expect, it } from "vitest";
import QuickAsk from "../start/QuickAsk.svelte";

const { replayed, target, show, all, get, open, goTo, later: deferred } = sessionStage();

/** Opens a menu of the status bar and picks an entry. */
function pick(menu: string, text: string): void {
  get(menu).nextElementSibling?.dispatchEvent(
    Object.assign(new Event("beforetoggle"), { newState: "open" }) as unknown as Event,
  );
  flushSync();
  const items = [...target.querySelectorAll<HTMLElement>(".menu-item")];
  const item = items.find((item) => item.textContent?.includes(text));
  if (!item) throw new Error(`no ${text} in ${items.map((item) => item.textContent).join()}`);
  item.click();
  flushSync();
}

const send = (text: string): void => {
  write(get(testids.composer), text);
  press(get(testids.composer), "Enter");
};

describe("sending", () => {
  it("scrolls to the end from anywhere; other updates do not", async () => {
    await open("main");
    const log = get(testids.transcript);
    Object.defineProperties(log, { scrollHeight: { value: 5_000 }, clientHeight: { value: 500 } });
    const up = async (): Promise<void> => {
      log.dispatchEvent(new Event("wheel"));
      log.scrollTop = 1_000;
      log.dispatchEvent(new Event("scroll"));
      await until(() => expect(log.dataset["following"]).toBe("false"));
    };
    await up();
    send("And the tests?");
    await until(() => expect([log.dataset["following"], log.scrollTop]).toEqual(["true", 5_000]));
    await up();
    // A change made elsewhere does not disturb the reader.
    await sessionList.pin(MAIN, true);
    flushSync();
    expect(log.dataset["following"]).toBe("false");
  });
});

describe("a choice for a session", () => {
  it("sets its folder even if another session was opened during the dialog", async () => {
    await open("main");
    const picked = deferred("pick_folder");
    pick(testids.statusFolder, t("folder.other"));
    await goTo(PERMISSION);
    picked({ type: "folder", path: "/home/mei/elsewhere" });
    await until(() => expect(replayed.of("set_folder").length).toBe(1));
    expect(replayed.last("set_folder")).toMatchObject({ session: MAIN, folder: "/home/mei/elsewhere" });
  });

  it("never sets the model of another session opened meanwhile", async () => {
    await open("main");
    const session = navigation.current?.id;
    const estimated = deferred("estimate_switch");
    const { preferences } = await import("$lib/app/preferences.svelte");
    const other = preferences.models.find(({ id }) => id !== navigation.current?.state?.info.model);
    pick(testids.statusModel, other?.model ?? "");
    await until(() => expect(replayed.of("estimate_switch").length).toBe(1));
    await goTo(PERMISSION);
    // No confirmation is needed, so it applies right away.
    estimated({ tokens: 1, cost: null, instead: null });
    await until(() => expect(replayed.of("set_model")).toMatchObject([{ session, model: other?.id }]));
  });
});

describe("the palette's commands", () => {
  const ids = () => commands().map(({ id }) => id);
  const run = (id: string): void => {
    const match = commands().find((command) => command.id === id);
    if (!match) throw new Error(`no ${id} in ${ids().join()}`);
    match.run();
    flushSync();
  };
  const title = () => target.querySelector<HTMLInputElement>(".head-field input");
  const ofRow = ["rename", "pin", "duplicate", "window", "export", "delete"];

  it("include the open session's menu, and always import", async () => {
    await open("main");
    expect(ids().filter((id) => ofRow.includes(id))).toEqual(ofRow);
    const commandFor = (also: string) => bestMatch(also, commands(), 1)[0]?.id;
    for (const [text, id] of [
      ["rename", "rename"],
      ["duplicate", "duplicate"],
      ["export", "export"],
      ["import", "import"],
    ] as const)
      expect(commandFor(text)).toBe(id);
    navigation.trash();
    expect(ids().filter((id) => ofRow.includes(id))).toEqual([]);
    expect(ids()).toContain("import");
  });

  it("rename in place, also from the time machine, and restore the focus", async () => {
    await open("main");
    for (const [key, next] of [
      ["Enter", "A better name"],
      ["Escape", undefined],
    ] as const) {
      replayed.requests.length = 0;
      navigation.current?.openTime({ type: "now" });
      flushSync();
      run("rename");
      await until(() => expect(document.activeElement).toBe(title()));
      const field = title();
      if (!field) throw new Error("no field");
      write(field, "A better name");
      press(field, key);
      await until(() => expect(title()).toBeNull());
      expect(document.activeElement).toBe(get(testids.composer));
      expect(replayed.last("rename_session")?.title).toBe(next);
    }
  });

  it("duplicate, export and import a session", async () => {
    await open("main");
    run("duplicate");
    await until(() => expect(replayed.last("branch_session")).toMatchObject({ session: MAIN, at: { type: "whole" } }));
    await until(() => expect(navigation.current?.id).not.toBe(MAIN));
    await goTo(MAIN);
    run("export");
    expect(dialogs.exporting?.id).toBe(MAIN);
    dialogs.exporting = null;
    replayed.instead = (call) => (call.type === "pick_files" ? { type: "files", paths: ["/x/a.octo"] } : undefined);
    run("import");
    await until(() => expect(dialogs.importing).toBe("/x/a.octo"));
    dialogs.importing = null;
  });
});

describe("an edited queued message", () => {
  const rows = () => all(testids.queueRow);
  const rewrite = async (text: string): Promise<HTMLElement> => {
    rows()[0]
      ?.querySelector<HTMLElement>(`[aria-label="${t("queue.edit")}"]`)
      ?.click();
    await until(() => expect(rows()[0]?.querySelector("textarea")).toBeTruthy());
    const field = rows()[0]?.querySelector<HTMLElement>("textarea");
    if (!field) throw new Error("no field");
    write(field, text);
    return field;
  };
  const composer = () => (get(testids.composer) as HTMLTextAreaElement).value;
  const drain = (): void => {
    const queue = navigation.current?.state?.queue.slice(1) ?? [];
    replayed.core.emit({ type: "session", id: PERMISSION }, { type: "queue_changed", queue });
    flushSync();
  };

  it("returns to the message field when it is sent meanwhile, also as the last one", async () => {
    await open("permission");
    const count = rows().length;
    expect(count).toBeGreaterThan(1);
    await rewrite("rewritten once");
    drain();
    await until(() => expect(composer()).toBe("rewritten once"));
    expect(rows().length).toBe(count - 1);
    write(get(testids.composer), "");
    for (let remaining = rows().length; remaining > 1; remaining -= 1) drain();
    await rewrite("rewritten twice");
    drain();
    await until(() => expect(composer()).toBe("rewritten twice"));
    expect(rows()).toEqual([]);
    write(get(testids.composer), "");
  });

  it("that cannot be saved stays in its field, and returns when sent after that", async () => {
    await open("permission");
    replayed.refuse = "edit_queued";
    const field = await rewrite("rewritten late");
    press(field, "Enter");
    await until(() => expect(replayed.of("edit_queued").length).toBe(1));
    await until(() => expect(rows()[0]?.querySelector("textarea")?.readOnly).toBe(false));
    expect(rows()[0]?.querySelector("textarea")?.value).toBe("rewritten late");
    drain();
    await until(() => expect(composer()).toBe("rewritten late"));
    write(get(testids.composer), "");
  });

  it("that is saved or unchanged is not copied to the message field", async () => {
    await open("permission");
    const field = await rewrite("rewritten in time");
    press(field, "Enter");
    await until(() => expect(rows()[0]?.textContent).toContain("rewritten in time"));
    await rewrite("rewritten in time");
    drain();
    await until(() => expect(target.querySelector(".queue textarea")).toBeNull());
    expect(composer()).toBe("");
  });

  it("survives opening another session", async () => {
    await open("permission");
    await rewrite("half of it");
    await goTo(MAIN);
    await goTo(PERMISSION);
    expect(composer()).toBe("half of it");
    write(get(testids.composer), "");
  });
});

describe("the focus", () => {
  it("moves from an answered card to the next one, then to the message field", async () => {
    await open("permission");
    await until(() => expect(all(testids.question).length).toBe(2));
    const [, second] = all(testids.question);
    const first = all(testids.questionOnce)[0];
    first?.focus();
    first?.click();
    await until(() => expect(document.activeElement).toBe(second));
    // A held key was meant for the previous card.
    press(second as HTMLElement, "Enter");
    press(second as HTMLElement, "Enter", { repeat: true });
    expect(replayed.of("answer_question").length).toBe(1);
    const last = get(testids.questionNo);
    last.focus();
    last.click();
    await until(() => expect(document.activeElement).toBe(get(testids.composer)));
  });

  it("stays in place when a card is answered from elsewhere", async () => {
    await open("permission");
    await until(() => expect(all(testids.question).length).toBe(2));
    get(testids.search).focus();
    await navigation.current?.answer(all(testids.question)[0]?.dataset["question"] ?? "", { type: "once" });
    await until(() => expect(all(testids.question).length).toBe(1));
    expect(document.activeElement).toBe(get(testids.search));
  });

  it("stays in the quick question while it is sent and if that fails", async () => {
    await replayed.begin("main");
    show(QuickAsk, {});
    const field = get(testids.quickText) as HTMLTextAreaElement;
    await until(() => expect(target.textContent).toContain(t("quick.send")));
    await until(() => expect(replayed.of("get_about").length).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 20));
    field.focus();
    write(field, "What is the time?");
    replayed.refuse = "start_session";
    const disabled: boolean[] = [];
    const watch = new MutationObserver(() => disabled.push(field.disabled));
    watch.observe(field, { attributes: true });
    press(field, "Enter");
    expect([field.disabled, field.readOnly]).toEqual([false, true]);
    await until(() => expect(target.querySelector("[role=alert]")).toBeTruthy());
    watch.disconnect();
    expect([document.activeElement, field.readOnly, field.value]).toEqual([field, false, "What is the time?"]);
    expect(disabled).not.toContain(true);
  });
});

describe("a key press of an input method", () => {
  it("is ignored by the page, even if only its code identifies it", async () => {
    await open("permission");
    // The key event WebKit sends at the end of an IME composition.
    const composed = { keyCode: 229 } as KeyboardEventInit;
    await until(() => get(testids.questionNoReason).click());
    press(get(testids.questionReason), "Escape", composed);
    expect(all(testids.questionReason).length).toBe(1);
    press(get(testids.questionReason), "Escape");
    expect(all(testids.questionReason)).toEqual([]);

    const search = get(testids.search) as HTMLInputElement;
    write(search, "Octo");
    press(search, "Escape", composed);
    expect(search.value).toBe("Octo");
    press(search, "Enter", composed);
    expect(navigation.current?.id).toBe(PERMISSION);

    await goTo(MAIN);
    press(get(testids.composer), "Escape", composed);
    expect(replayed.of("stop")).toEqual([]);
    press(get(testids.composer), "Escape");
    await until(() => expect(replayed.of("stop").length).toBe(1));
  });
});

// @vitest-environment jsdom
import { provideConversation } from "$lib/app/context";
import { Conversation } from "$lib/app/conversation.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import type { CallView, ToolView } from "$lib/ipc/types";
import type { Step } from "$lib/state/rows";
import { testids } from "$lib/testids";
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until, within, words } from "$lib/testing/dom";
import { setLanguage, t } from "$lib/words/words.svelte";
import { type Component, flushSync, mount, unmount } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import Reasoning from "../transcript/Reasoning.svelte";
import StepGroup from "./StepGroup.svelte";

const MAIN = "d0000000000000000000000000000001";
const OTHER = "d0000000000000000000000000000002";

const replayed = new ReplayCore();
const target = document.createElement("div");
const { all, get } = within(target);
let mounted: Record<string, unknown>[] = [];
let session: Conversation;
let round = 0;

beforeAll(() => {
  vi.setConfig({ testTimeout: 20_000 });
  installStubs();
  history.replaceState(null, "", "/?fast");
  document.body.append(target);
});
beforeEach(async () => {
  localStorage.clear();
  await setLanguage("en");
  await replayed.begin("main");
  await preferences.begin();
  session = await open(MAIN);
  round += 1;
});
afterEach(async () => {
  await clear();
  session.close();
});

async function clear(): Promise<void> {
  for (const component of mounted) await unmount(component);
  mounted = [];
}

async function open(id: string): Promise<Conversation> {
  const opened = new Conversation(id, () => undefined);
  await until(() => expect(opened.state).not.toBeNull());
  return opened;
}

/** Mounts a part of a transcript as the session view does. */
function show<Props extends Record<string, unknown>>(component: Component<Props>, props: Props): void {
  const within: Component<Props> = (internals, props) => {
    provideConversation(() => session);
    return component(internals, props);
  };
  mounted.push(mount(within, { target, props, context: new Map() }));
  flushSync();
}

const read: ToolView = { type: "text", path: "/x/a.rs", text: "a", first_line: 1, last_line: 1, total_lines: 1 };
const edit: ToolView = {
  type: "diff",
  path: "/x/a.rs",
  change: "edited",
  hunks: [],
  added: 5,
  removed: 2,
  truncated: false,
} as unknown as ToolView;
const run = (code: number, line = "cargo test"): ToolView => ({
  type: "command",
  command: line,
  cwd: "/x",
  output: "told to the model",
  state: { type: "exited", code },
  duration_ms: 1,
  log: null,
  handle: null,
});
const step = (name: string, view: ToolView, state?: CallView["state"]): Step => ({
  key: `${round}:${name}`,
  call: {
    id: `${round}:${name}`,
    turn: "t",
    tool: "tool",
    state: state ?? { type: "ended", status: "done", at: 1, duration_ms: 100 },
    view,
  },
  tool: "tool",
  message: "m",
  argumentText: "{}",
  result: null,
});
const reads = (count: number): Step[] => Array.from({ length: count }, (_, index) => step(`r${index}`, read));
const group = (steps: Step[], isTurnOver = true): void =>
  show(StepGroup, { key: `${round}:r0`, steps, over: isTurnOver });
const head = (): HTMLElement => get(testids.stepGroup);
const press = (element: HTMLElement): void => {
  element.click();
  flushSync();
};

describe("a group of tool calls", () => {
  it("is one card: a single step, or several under a heading that counts them by kind", async () => {
    group(reads(1));
    expect([all(testids.stepGroup).length, all(testids.stepRow).length]).toEqual([0, 1]);
    await clear();
    group([...reads(3), step("e", edit), step("c", run(1))]);
    expect(all(testids.stepRow).length).toBe(5);
    expect(words(head())).toBe("5 steps, 0.5 s 3 reads, 1 change, 1 command 1 failed+5−2");
    expect(head().getAttribute("aria-expanded")).toBe("true");
    const lines = document.getElementById(head().getAttribute("aria-controls") ?? "");
    expect(lines?.querySelectorAll(`[data-testid=${testids.stepRow}]`).length).toBe(5);
    await setLanguage("zh");
    flushSync();
    expect(words(head())).toBe("5 步，0.5 秒 3 次查看、1 处修改、1 条命令 1 步失败+5−2");
  });

  it("shows a failed command's status, last output and full log", async () => {
    const output = Array.from({ length: 100 }, (_, line) => `line ${line + 1}`).join("\n");
    const failed = { ...run(101), output, log: "/home/mei/.octo/shells/1/logs/7.log" } as ToolView;
    group([step("c", failed)]);
    const row = get(testids.stepRow);
    if (!words(target).includes("line 100")) press(row.querySelector("button") ?? row);
    expect(words(row)).toContain("101");
    await until(() => expect(words(target)).toContain("line 100"));
    expect(words(target)).not.toContain("line 40 ");
    const link = [...target.querySelectorAll("button")].find((button) => words(button) === t("run.show_log"));
    link?.click();
    await until(() =>
      expect(replayed.last("reveal")).toEqual({ type: "reveal", path: "/home/mei/.octo/shells/1/logs/7.log" }),
    );
  });

  it("says which folder a command lost, without a click", () => {
    group([step("c", { ...run(0), lost_folder: "/x/sub" } as ToolView)]);
    expect(words(target)).toContain(t("run.lost_folder", { folder: "/x/sub" }));
  });

  it("has a focusable button that reveals an existing file in its folder", async () => {
    const buttons = (): HTMLElement[] => [...target.querySelectorAll<HTMLElement>(".step-show")];
    const endState = (status: "failed" | "denied") => ({ type: "ended", status, at: 1, duration_ms: 1 }) as const;
    group([step("r", read), step("e", edit), step("c", run(0))]);
    expect(buttons().map((button) => [button.ariaLabel ?? button.getAttribute("aria-label"), button.tabIndex])).toEqual(
      [
        [t("file.show", { path: "/x/a.rs" }), 0],
        [t("file.show", { path: "/x/a.rs" }), 0],
      ],
    );
    buttons()[1]?.click();
    const { folder } = session.state?.info ?? {};
    await until(() => expect(replayed.last("reveal_file")).toEqual({ type: "reveal_file", path: "/x/a.rs", folder }));
    await clear();
    const before = [
      step("p", edit, { type: "planned" }),
      step("f", edit, endState("failed")),
      step("d", edit, endState("denied")),
    ];
    group(before);
    expect(buttons()).toEqual([]);
  });

  it("folds when it is long, successful and its turn is over", async () => {
    group(reads(6), false);
    expect(head().getAttribute("aria-expanded")).toBe("true");
    await clear();
    group(reads(5));
    expect(all(testids.stepRow).length).toBe(5);
    await clear();
    group([...reads(6), step("c", run(101))]);
    expect(all(testids.stepRow).length).toBe(7);
    await clear();
    group(reads(6));
    expect([head().getAttribute("aria-expanded"), all(testids.stepRow).length]).toEqual(["false", 0]);
    press(head());
    expect([head().getAttribute("aria-expanded"), all(testids.stepRow).length]).toEqual(["true", 6]);
  });

  it("keeps its folding, also after reopening the session", async () => {
    group(reads(6), false);
    press(head());
    expect(all(testids.stepRow).length).toBe(0);
    await clear();
    session.close();
    session = await open(OTHER);
    session.close();
    session = await open(MAIN);
    group(reads(7), false);
    expect([words(head()), all(testids.stepRow).length]).toEqual(["7 steps, 0.7 s 7 reads", 0]);
  });

  it("shows the current step while folded", () => {
    group([...reads(2), step("c", { ...run(0), state: null } as ToolView, { type: "started", at: 1 })], false);
    press(head());
    expect(words(head())).toBe("3 steps Running");
    expect(head().querySelector(".ring")).toBeTruthy();
  });

  it("does not fold over an opened or focused step", async () => {
    const changes = new SvelteMap([["over", false]]);
    const shownAs = { key: `${round}:r0`, steps: reads(6), over: false };
    Object.defineProperty(shownAs, "over", { get: () => changes.get("over") });
    show(StepGroup, shownAs);
    const first = get(testids.stepRow);
    first.focus();
    expect(document.activeElement).toBe(first);
    changes.set("over", true);
    flushSync();
    expect([document.activeElement, all(testids.stepRow).length]).toEqual([first, 6]);
    await clear();

    round += 1;
    group(reads(6), false);
    press(get(testids.stepRow));
    await clear();
    group(reads(6));
    expect([all(testids.stepRow).length, all(testids.stepBody).length]).toEqual([6, 1]);
  });
});

describe("a command that offers a settings page", () => {
  it("has a button to the page and hides text meant for the model", async () => {
    group([step("s", run(0, "octo settings open browser"))]);
    const button = get(testids.settingsOffer);
    expect(words(button)).toBe("Open Settings: Browser");
    expect(words(get(testids.stepBody))).not.toContain("told to the model");
    press(button);
    expect(navigation.view).toEqual({ page: "settings", section: "browser" });
    navigation.fresh();
    await clear();
    group([step("n", run(0, "octo settings open nowhere"))]);
    expect(all(testids.settingsOffer)).toEqual([]);
  });
});

describe("reasoning", () => {
  const showReasoning = (key: string): void => show(Reasoning, { key, text: "First the reader.", streaming: false });
  const open_ = (): (string | null)[] => all(testids.reasoning).map((fold) => fold.getAttribute("aria-expanded"));

  it("is shown or hidden as chosen last, in all sessions and after a restart", async () => {
    showReasoning("a:0");
    showReasoning("b:0");
    expect(open_()).toEqual(["false", "false"]);
    press(get(testids.reasoning));
    expect(open_()).toEqual(["true", "true"]);
    await clear();
    session.close();
    session = await open(OTHER);
    showReasoning("c:0");
    expect(open_()).toEqual(["true"]);
    // A fresh page load reads the stored state.
    vi.resetModules();
    const { reasoningShown } = await import("$lib/app/folds.svelte");
    expect(reasoningShown.open).toBe(true);
    press(get(testids.reasoning));
    vi.resetModules();
    expect((await import("$lib/app/folds.svelte")).reasoningShown.open).toBe(false);
  });
});

import { settingsPages } from "$lib/app/settings-pages";
import type { CallView, CommandState, Settings, ToolView } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { PROPOSED, offeredPage, offeredSetting, patchOf } from "./settings-command";
import { opensByDefault } from "./step";

const command = (line: string, state: CommandState | null = { type: "exited", code: 0 }): ToolView => ({
  type: "command",
  command: line,
  cwd: "/home/mei",
  output: "The card of this call has a button.",
  state,
  duration_ms: 1,
  log: null,
  handle: null,
});

describe("the settings page a command offers", () => {
  it("can be any page, by name", () => {
    for (const { id } of settingsPages) expect(offeredPage(command(`octo settings open ${id}`))).toBe(id);
    expect(offeredPage(command("  octo  settings open\tmodels\n"))).toBe("models");
  });

  it("is none for an unknown page or another command", () => {
    for (const line of [
      "octo settings open",
      "octo settings open nowhere",
      "octo settings open Browser",
      "octo settings open browser extra",
      "octo settings open browser; ls",
      "octo settings open browser && octo settings list",
      "echo octo settings open browser",
      "octo settings open browser\nls",
      "octo\nsettings open browser",
      "octo settings show theme",
    ])
      expect(offeredPage(command(line)), line).toBeNull();
  });

  it("is none before a successful run", () => {
    const states: (CommandState | null)[] = [
      null,
      { type: "running" },
      { type: "killed" },
      { type: "exited", code: 1 },
      { type: "signalled", signal: 9 },
    ];
    for (const state of states) expect(offeredPage(command("octo settings open browser", state))).toBeNull();
    expect(offeredPage({ type: "plain", text: "octo settings open browser" })).toBeNull();
    expect(offeredPage(null)).toBeNull();
  });

  it("opens its card with the button", () => {
    const call = (view: ToolView): CallView => ({
      id: "c",
      turn: "t",
      tool: "terminal",
      state: { type: "ended", status: "done", at: 1, duration_ms: 1 },
      view,
    });
    expect(opensByDefault(call(command("octo settings open browser")))).toBe(true);
    expect(opensByDefault(call(command("octo settings open nowhere")))).toBe(false);
  });
});

describe("the setting a command proposes", () => {
  const settings = {
    theme: "light",
    sub_agents: 4,
    appearance: { text: "usual", density: "roomy" },
    desktop: { closing: "hide", notices: { question: "on", finished: "on", failed: "on" } },
  } as Settings;

  it("exists, takes a valid value and keeps its neighbours", () => {
    for (const [line, patch] of [
      ["appearance theme dark", { theme: "dark" }],
      ["knowledge sub_agents 2", { sub_agents: 2 }],
      ["appearance text_size large", { appearance: { text: "large", density: "roomy" } }],
      [
        "notifications finished off",
        { desktop: { closing: "hide", notices: { question: "on", finished: "off", failed: "on" } } },
      ],
    ] as const) {
      const proposal = offeredSetting(command(`octo settings open ${line}`));
      expect(proposal && patchOf(proposal, settings), line).toEqual(patch);
    }
  });

  it("can be any listed setting with any of its values", () => {
    for (const [setting, range] of Object.entries(PROPOSED)) {
      const [page] = setting.split(" ");
      for (const value of "from" in range ? [range.from, range.to] : range.may)
        expect(offeredSetting(command(`octo settings open ${setting} ${value}`))).toEqual({ page, setting, value });
    }
  });

  it("is none for permission settings, invalid values and a page alone", () => {
    for (const line of [
      "octo settings open appearance",
      "octo settings open appearance theme",
      "octo settings open appearance theme pink",
      "octo settings open behaviour live_turns 99",
      "octo settings open behaviour live_turns 1.5",
      "octo settings open behaviour confinement off",
      "octo settings open general default_mode autonomous",
      "octo settings open general constructor on",
      "octo settings open general theme dark",
      "octo settings open behaviour trash_days 1",
    ])
      expect(offeredSetting(command(line)), line).toBeNull();
  });
});

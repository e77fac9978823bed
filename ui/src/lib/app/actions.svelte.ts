/** The palette's actions: commands and places to open. */
import type { IconName } from "$lib/icons";
import { host } from "$lib/ipc";
import { type WordKey, inEnglish, t } from "$lib/words/words.svelte";
import { branchFrom } from "./branching";
import { dialogs } from "./dialogs.svelte";
import { sessionList } from "./session-list.svelte";
import { navigation } from "./navigation.svelte";
import { overlay } from "./overlay.svelte";
import { openWindow } from "./own-window";
import { preferences } from "./preferences.svelte";
import { settingsPages } from "./settings-pages";
import type { ShortcutId } from "./shortcuts";
import { toasts } from "./toasts.svelte";

/** An action of the palette. */
export interface Action {
  readonly id: string;
  readonly label: string;
  /** Its English words: people who use another language may still type them. */
  readonly also: string;
  readonly icon: IconName;
  readonly shortcut?: ShortcutId;
  readonly run: () => void;
}

type Rest = Omit<Action, "label" | "also">;

/** Returns an action whose words are those of the keys, from the general to the specific. */
function action(words: WordKey | readonly [WordKey, WordKey], rest: Rest): Action {
  const keys = typeof words === "string" ? [words] : words;
  return { ...rest, label: keys.map((key) => t(key)).join(": "), also: keys.map(inEnglish).join(": ") };
}

const THEMES = [
  ["system", "settings.system"],
  ["light", "settings.light"],
  ["dark", "settings.dark"],
] as const;

/** Returns the commands available now. */
export function commands(): readonly Action[] {
  const session = navigation.current;
  const info = session?.state?.info ?? null;
  const list = [
    action("side.new", { id: "new", icon: "plus", shortcut: "new", run: () => navigation.fresh() }),
    action("search.label", { id: "search", icon: "search", shortcut: "search", run: () => navigation.search() }),
  ];
  if (session?.busy)
    list.push(action("keys.stop", { id: "stop", icon: "stop", shortcut: "stop", run: () => void session.stop() }));
  if (session && info) {
    list.push(
      action("time.title", {
        id: "time",
        icon: "history",
        shortcut: "time",
        run: () => session.openTime({ type: "now" }),
      }),
      // The entries of the session row's menu.
      action("palette.rename", {
        id: "rename",
        icon: "pencil",
        run: () => {
          session.closeTime();
          dialogs.renaming = info.id;
        },
      }),
      action(info.pinned ? "palette.unpin" : "palette.pin", {
        id: "pin",
        icon: "pin",
        run: () => void sessionList.pin(info.id, !info.pinned),
      }),
    );
    if (session.mayBranch)
      list.push(
        action("palette.duplicate", {
          id: "duplicate",
          icon: "copy",
          run: () => void branchFrom(info.id, { type: "whole" }),
        }),
      );
    list.push(
      action("session.window", { id: "window", icon: "window", run: () => openWindow(info.id) }),
      action("palette.export", { id: "export", icon: "download", run: () => (dialogs.exporting = info) }),
      action("palette.delete", { id: "delete", icon: "trash", run: () => void remove(info.id) }),
    );
  }
  list.push(
    action("import.open", { id: "import", icon: "file", run: () => void dialogs.import() }),
    action(navigation.sideOpen ? "side.hide" : "side.show", {
      id: "side",
      icon: "panel-left",
      shortcut: "side",
      run: () => navigation.toggleSide(),
    }),
    action("shortcuts.title", {
      id: "shortcuts",
      icon: "keyboard",
      shortcut: "overview",
      run: () => overlay.shortcuts(),
    }),
    // Without a tray, this quits an Octo whose window would only hide.
    action("menu.quit", { id: "quit", icon: "x", run: () => void quit() }),
  );
  const theme = preferences.settings?.theme;
  for (const [next, title] of THEMES) {
    if (next === theme) continue;
    list.push(
      action(["settings.theme", title], {
        id: `theme-${next}`,
        icon: "sun",
        run: () => void preferences.change({ theme: next }),
      }),
    );
  }
  return list;
}

async function remove(id: string): Promise<void> {
  if (await sessionList.remove(id, (onrestore) => navigation.session(onrestore.id))) navigation.home(id);
}

async function quit(): Promise<void> {
  try {
    await host({ type: "quit" });
  } catch (error) {
    toasts.fail(error);
  }
}

/** Returns the pages that can be opened. */
export function places(): readonly Action[] {
  return [
    action("side.activity", {
      id: "activity",
      icon: "activity",
      shortcut: "activity",
      run: () => navigation.activity(),
    }),
    action("side.tasks", { id: "tasks", icon: "calendar", run: () => navigation.tasks() }),
    action("side.skills", { id: "skills", icon: "skills", run: () => navigation.skills() }),
    action("side.memory", { id: "memory", icon: "memory", run: () => navigation.memory() }),
    action("side.trash", { id: "trash", icon: "trash", run: () => navigation.trash() }),
    action("side.usage", { id: "usage", icon: "chart", run: () => navigation.usage() }),
    action("side.settings", {
      id: "settings",
      icon: "settings",
      shortcut: "settings",
      run: () => navigation.settings(),
    }),
    ...settingsPages.map(({ id, icon, title }) =>
      action(["side.settings", title], {
        id: `settings-${id}`,
        icon,
        run: () => navigation.settings(id),
      }),
    ),
  ];
}

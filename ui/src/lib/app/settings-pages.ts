/**
 * The pages of the settings, each declared once: the navigation, the palette, the settings view, the search index and
 * the scenes of the browser tests derive from this list, in its order. A page loads with its words when it is opened.
 */
import type { IconName } from "$lib/icons";
import type { SettingsPage } from "$lib/ipc/generated/protocol";
import { type WordKey, withWords } from "$lib/words/words.svelte";
import type { Component } from "svelte";

type View = Promise<{ readonly default: Component }>;

/** The declaration of a page. */
interface Declaration {
  readonly id: SettingsPage;
  readonly icon: IconName;
  readonly title: WordKey;
  readonly load: () => View;
  /** The buttons next to the title. */
  readonly loadActions?: () => View;
  /** Further words that find the page itself. */
  readonly also?: readonly WordKey[];
  /** Its rows and sections in the search: the title, as displayed on the page, and further words that match. */
  readonly rows: readonly (readonly [title: WordKey, ...also: WordKey[]])[];
}

const declared = [
  {
    id: "models",
    icon: "cpu",
    title: "settings.page.models",
    load: () => withWords(import("$components/settings/ModelsPage.svelte"), "settings-models", "settings", "shared"),
    loadActions: () => withWords(import("$components/settings/ModelsActions.svelte"), "settings"),
    also: [
      "model.provider",
      "model.key",
      "model.address",
      "model.add",
      "model.speed_test",
      "model.light",
      "model.fallback",
      "header.title",
      "header.hint",
    ],
    rows: [
      ["settings.network", "settings.proxy_sub"],
      ["settings.proxy", "settings.proxy_sub", "settings.proxy_address"],
      ["certificates.title", "certificates.sub"],
    ],
  },
  {
    id: "general",
    icon: "sun",
    title: "settings.page.general",
    load: () =>
      withWords(
        import("$components/settings/GeneralPage.svelte"),
        "settings-general",
        "settings",
        "onboarding",
        "shared",
      ),
    rows: [
      ["desktop.title"],
      ["settings.new_sessions"],
      ["settings.language"],
      ["onboarding.again", "onboarding.again.sub", "welcome.title"],
      ["settings.default_mode", "mode.ask", "mode.ask_risky", "mode.autonomous"],
      ["settings.default_profile"],
      ["settings.kept_files", "settings.kept_files.sub", "time.title"],
      ["settings.search", "settings.search.sub", "settings.search.brave", "settings.search.searxng"],
      ["desktop.closing", "desktop.closing.sub"],
      ["desktop.quick_ask", "desktop.quick_ask.sub"],
      ["desktop.autostart", "desktop.autostart.sub"],
    ],
  },
  {
    id: "behaviour",
    icon: "compress",
    title: "settings.page.behaviour",
    load: () =>
      withWords(import("$components/settings/BehaviourPage.svelte"), "settings-behaviour", "settings", "shared"),
    rows: [
      ["settings.conversation"],
      ["settings.compact_at"],
      ["settings.keep_warm", "settings.keep_warm.sub"],
      ["settings.suggestions", "settings.suggestions.sub"],
      ["settings.confinement", "settings.confinement.sub"],
      ["settings.command_network", "settings.command_network.sub"],
      ["settings.live_turns", "settings.live_turns.sub", "side.tasks"],
      ["settings.budgets", "settings.budgets.sub"],
      ["settings.budget.task", "settings.budgets"],
      ["settings.budget.session", "settings.budgets"],
      ["settings.budget.day", "settings.budgets"],
      ["settings.trash", "settings.trash.sub"],
      ["settings.trash_days", "settings.trash", "settings.trash_days.sub"],
      ["settings.trash_size", "settings.trash", "settings.trash_size.sub"],
    ],
  },
  {
    id: "tasks",
    icon: "calendar",
    title: "settings.page.tasks",
    load: () => withWords(import("$components/settings/TasksPage.svelte"), "settings-tasks"),
    also: ["side.tasks"],
    rows: [
      ["settings.tasks.on", "settings.tasks.on.sub"],
      ["settings.tasks.new", "tasks.missed", "tasks.tell", "settings.tasks.open.sub"],
    ],
  },
  {
    id: "rules",
    icon: "shield",
    title: "settings.page.rules",
    load: () => withWords(import("$components/settings/RulesPage.svelte"), "settings-rules", "permission"),
    rows: [["rules.try"], ["rules.grants"]],
  },
  {
    id: "browser",
    icon: "globe",
    title: "settings.page.browser",
    load: () => withWords(import("$components/settings/BrowserPage.svelte"), "settings-browser", "shared"),
    rows: [
      ["browser.connection", "browser.attach"],
      [
        "browser.which",
        "browser.which.sub",
        "browser.which.automatic.sub",
        "browser.which.folder.sub",
        "browser.which.own",
        "browser.which.off",
      ],
      ["browser.setup"],
      ["browser.limits"],
      ["browser.doctor", "browser.doctor.sub"],
      ["browser.sites"],
      ["browser.secrets", "browser.secrets.sub"],
    ],
  },
  {
    id: "chats",
    icon: "chat",
    title: "settings.page.chats",
    load: () => withWords(import("$components/settings/ChatsPage.svelte"), "settings-chats", "shared"),
    also: ["settings.chats.lead"],
    rows: [["settings.chats.telegram", "settings.chats.add", "settings.chats.how", "settings.chats.people"]],
  },
  {
    id: "knowledge",
    icon: "skills",
    title: "settings.page.knowledge",
    load: () => withWords(import("$components/settings/KnowledgePage.svelte"), "settings-knowledge", "shared"),
    rows: [
      ["side.skills", "settings.skills.sub"],
      ["settings.propose", "settings.propose.sub"],
      ["settings.other_agents", "settings.other_agents.sub"],
      ["settings.sub_agents", "settings.sub_agents.sub"],
      ["settings.remember", "settings.remember.sub", "side.memory", "settings.memory.sub"],
    ],
  },
  {
    id: "appearance",
    icon: "eye",
    title: "settings.page.appearance",
    load: () => withWords(import("$components/settings/AppearancePage.svelte"), "settings-appearance", "settings"),
    rows: [
      ["settings.theme", "settings.light", "settings.dark"],
      ["settings.text_size", "settings.text_size.sub"],
      ["settings.zoom"],
      ["settings.density", "settings.density.sub"],
      ["settings.list_order", "search.group.time", "search.group.folder"],
    ],
  },
  {
    id: "shortcuts",
    icon: "keyboard",
    title: "settings.page.shortcuts",
    load: () => withWords(import("$components/settings/ShortcutsPage.svelte"), "shortcuts"),
    also: ["shortcuts.title", "shortcuts.sub"],
    rows: [
      ["keys.new"],
      ["keys.search"],
      ["keys.activity"],
      ["keys.settings"],
      ["keys.back"],
      ["keys.forward"],
      ["keys.sessions"],
      ["keys.stop"],
      ["keys.time_back"],
      ["keys.time"],
      ["keys.answer"],
      ["keys.recall"],
      ["keys.suggestion"],
      ["keys.commands"],
      ["keys.newline"],
    ],
  },
  {
    id: "notifications",
    icon: "bell",
    title: "settings.page.notifications",
    load: () => withWords(import("$components/settings/NotificationsPage.svelte"), "settings-notifications"),
    also: ["settings.notifications.lead"],
    rows: [
      ["settings.notifications.question", "settings.notifications.question.sub"],
      ["settings.notifications.finished", "settings.notifications.finished.sub"],
      ["settings.notifications.failed", "settings.notifications.failed.sub"],
    ],
  },
  {
    id: "data",
    icon: "disk",
    title: "settings.page.data",
    load: () => withWords(import("$components/settings/DataPage.svelte"), "settings-data", "settings", "shared"),
    rows: [
      ["about.home"],
      ["data.sizes"],
      ["data.sessions", "data.sessions.sub", "data.kept"],
      ["data.copy", "data.copy.sub", "data.back_up"],
      ["data.restore", "data.restore.sub", "data.restore.title", "data.place"],
      ["data.move", "data.move.sub", "data.place"],
      ["data.erase.all", "data.erase", "data.erase.sub"],
    ],
  },
  {
    id: "about",
    icon: "info",
    title: "settings.page.about",
    load: () => withWords(import("$components/settings/AboutPage.svelte"), "settings-about", "settings", "shared"),
    rows: [
      ["about.version"],
      ["about.system"],
      ["updates.title", "updates.sub", "updates.automatic", "updates.automatic.sub"],
      ["about.licence", "about.licence.sub"],
      ["about.parts", "about.parts.sub"],
      ["diagnostics.title", "diagnostics.lead", "diagnostics.sub"],
    ],
  },
] as const satisfies readonly Declaration[];

export type { SettingsPage };

/** A type only while every page that the core names is declared. */
type EveryPage<Missing extends never> = Missing;
export type MissingPage = EveryPage<Exclude<SettingsPage, (typeof declared)[number]["id"]>>;

/** All pages, in display order. */
export const settingsPages: readonly (Declaration & { readonly id: SettingsPage })[] = declared;

/** Returns a page by its id. */
export function settingsPage(id: SettingsPage): Declaration & { readonly id: SettingsPage } {
  return settingsPages.find((page) => page.id === id) ?? declared[0];
}

/** Returns the id of a page that is named from outside; null if there is none. */
export function settingsPageNamed(name: string | undefined): SettingsPage | null {
  return settingsPages.find((page) => page.id === name)?.id ?? null;
}

/**
 * The files of words, for their types only: a key that no English file has does not compile. Rust alone uses `chats` and
 * `native`.
 */
import type activity from "@words/en/activity.json";
import type closing from "@words/en/closing.json";
import type errors from "@words/en/errors.json";
import type memory from "@words/en/memory.json";
import type onboarding from "@words/en/onboarding.json";
import type palette from "@words/en/palette.json";
import type permission from "@words/en/permission.json";
import type quick from "@words/en/quick.json";
import type session from "@words/en/session.json";
import type settings from "@words/en/settings.json";
import type settingsAbout from "@words/en/settings-about.json";
import type settingsAppearance from "@words/en/settings-appearance.json";
import type settingsBehaviour from "@words/en/settings-behaviour.json";
import type settingsBrowser from "@words/en/settings-browser.json";
import type settingsChats from "@words/en/settings-chats.json";
import type settingsData from "@words/en/settings-data.json";
import type settingsGeneral from "@words/en/settings-general.json";
import type settingsKnowledge from "@words/en/settings-knowledge.json";
import type settingsModels from "@words/en/settings-models.json";
import type settingsNotifications from "@words/en/settings-notifications.json";
import type settingsRules from "@words/en/settings-rules.json";
import type settingsTasks from "@words/en/settings-tasks.json";
import type shared from "@words/en/shared.json";
import type shortcuts from "@words/en/shortcuts.json";
import type skillProblems from "@words/en/skill-problems.json";
import type skills from "@words/en/skills.json";
import type start from "@words/en/start.json";
import type startFailure from "@words/en/start-failure.json";
import type tasks from "@words/en/tasks.json";
import type time from "@words/en/time.json";
import type transfer from "@words/en/transfer.json";
import type trash from "@words/en/trash.json";
import type usage from "@words/en/usage.json";

/** The files of words by name. */
interface Files {
  activity: typeof activity;
  closing: typeof closing;
  errors: typeof errors;
  memory: typeof memory;
  onboarding: typeof onboarding;
  palette: typeof palette;
  permission: typeof permission;
  quick: typeof quick;
  session: typeof session;
  settings: typeof settings;
  "settings-about": typeof settingsAbout;
  "settings-appearance": typeof settingsAppearance;
  "settings-behaviour": typeof settingsBehaviour;
  "settings-browser": typeof settingsBrowser;
  "settings-chats": typeof settingsChats;
  "settings-data": typeof settingsData;
  "settings-general": typeof settingsGeneral;
  "settings-knowledge": typeof settingsKnowledge;
  "settings-models": typeof settingsModels;
  "settings-notifications": typeof settingsNotifications;
  "settings-rules": typeof settingsRules;
  "settings-tasks": typeof settingsTasks;
  shared: typeof shared;
  shortcuts: typeof shortcuts;
  "skill-problems": typeof skillProblems;
  skills: typeof skills;
  start: typeof start;
  "start-failure": typeof startFailure;
  tasks: typeof tasks;
  time: typeof time;
  transfer: typeof transfer;
  trash: typeof trash;
  usage: typeof usage;
}

/** A key of the catalogue. */
export type WordKey = { [Name in keyof Files]: keyof Files[Name] }[keyof Files];
/** A file of words that views load. */
export type WordFile = Exclude<keyof Files, "start">;

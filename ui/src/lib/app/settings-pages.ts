/** The pages of the settings, in the order of their sidebar and the palette. */
import type { IconName } from "$lib/icons";
import type { SettingsPage } from "./navigation.svelte";

export const settingsPages: readonly { readonly id: SettingsPage; readonly icon: IconName }[] = [
  { id: "models", icon: "cpu" },
  { id: "general", icon: "sun" },
  { id: "behaviour", icon: "compress" },
  { id: "tasks", icon: "calendar" },
  { id: "rules", icon: "shield" },
  { id: "browser", icon: "globe" },
  { id: "chats", icon: "chat" },
  { id: "knowledge", icon: "skills" },
  { id: "appearance", icon: "eye" },
  { id: "shortcuts", icon: "keyboard" },
  { id: "notifications", icon: "bell" },
  { id: "data", icon: "disk" },
  { id: "about", icon: "info" },
];

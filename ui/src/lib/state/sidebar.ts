/** The sidebar as a flat list of rows, so that only visible ones are rendered. Pure. */
import type { SessionFolder, SessionHit, SessionInfo } from "$lib/ipc/types";
import type { Group, GroupName } from "./list";
import { type Folding, type RunGroup, groupRuns, taskOf } from "./run-folding";

/** A row of the sidebar. */
export type SidebarRow =
  | { readonly kind: "group"; readonly key: string; readonly name: GroupName; readonly count: number }
  | { readonly kind: "head"; readonly key: string; readonly about: "titles" | "messages" | "found" | "nothing" }
  | { readonly kind: "session"; readonly key: string; readonly info: SessionInfo }
  | { readonly kind: "runs"; readonly key: string; readonly group: RunGroup }
  | { readonly kind: "folder"; readonly key: string; readonly folder: SessionFolder; readonly open: boolean }
  | { readonly kind: "more"; readonly key: string; readonly path: string }
  | { readonly kind: "hit"; readonly key: string; readonly hit: SessionHit }
  | { readonly kind: "cut"; readonly key: string; readonly shown: number };

const sessionLine = (info: SessionInfo): SidebarRow => ({ kind: "session", key: info.id, info });

/** Returns the rows of a group's sessions, with task runs folded. */
function linesOfSessions({ name, sessions }: Group, folding: Folding): readonly SidebarRow[] {
  // The row of a task's runs keeps its key while runs are added before and after it.
  const times = new Map<string, number>();
  return groupRuns(sessions, folding).flatMap((group): SidebarRow[] => {
    const { head, earlier, folded, open } = group;
    if (folded.length === 0) return [head, ...earlier].map(sessionLine);
    const task = taskOf(head) ?? head.id;
    const count = (times.get(task) ?? 0) + 1;
    times.set(task, count);
    const hidden = new Set(open ? [] : folded);
    return [
      sessionLine(head),
      { kind: "runs", key: `runs:${name}:${count}:${task}`, group },
      ...earlier.filter((info) => !hidden.has(info)).map(sessionLine),
    ];
  });
}

/** Returns the rows of the whole list; without `folding` each session has its own. */
export function groupRows(groups: readonly Group[], folding?: Folding): readonly SidebarRow[] {
  return groups.flatMap((group): SidebarRow[] => [
    { kind: "group", key: `group:${group.name}`, name: group.name, count: group.sessions.length },
    ...(folding ? linesOfSessions(group, folding) : group.sessions.map(sessionLine)),
  ]);
}

/** A folder of the list. */
export interface FolderRow {
  readonly folder: SessionFolder;
  readonly open: boolean;
  readonly sessions: readonly SessionInfo[];
  /** Whether it has more sessions to load. */
  readonly more: boolean;
}

/** Returns the rows of the list by folder: waiting and pinned sessions, then each folder with its sessions if open. */
export function folderRows(groups: readonly Group[], folders: readonly FolderRow[]): readonly SidebarRow[] {
  const topSessions = groups.filter(({ name }) => name === "needs_you" || name === "pinned");
  return [
    ...groupRows(topSessions),
    ...folders.flatMap(({ folder, open, sessions, more }): SidebarRow[] => [
      { kind: "folder", key: `folder:${folder.path}`, folder, open },
      ...(open ? sessions.map(sessionLine) : []),
      ...(open && more ? [{ kind: "more", key: `more:${folder.path}`, path: folder.path } as const] : []),
    ]),
  ];
}

/** The results of a search. */
export interface SearchResults {
  readonly sessions: readonly SessionInfo[];
  readonly hits: readonly SessionHit[];
  /** Whether there are more hits than shown. */
  readonly cut: boolean;
  /** Whether results are still pending. */
  readonly searching: boolean;
}

/** Returns the rows of the results: `worded` for a search by words, otherwise they are everything a filter matches. */
export function resultRows(worded: boolean, { sessions, hits, cut, searching }: SearchResults): readonly SidebarRow[] {
  const head = (about: Extract<SidebarRow, { kind: "head" }>["about"]): SidebarRow => ({
    kind: "head",
    key: `head:${about}`,
    about,
  });
  if (sessions.length === 0 && hits.length === 0) return searching ? [] : [head("nothing")];
  return [
    ...(sessions.length > 0 ? [head(worded ? "titles" : "found"), ...sessions.map(sessionLine)] : []),
    ...(hits.length > 0
      ? [
          head("messages"),
          ...hits.map((hit): SidebarRow => ({ kind: "hit", key: `hit:${hit.info.id}:${hit.message}`, hit })),
          ...(cut ? [{ kind: "cut", key: "cut", shown: hits.length } as const] : []),
        ]
      : []),
  ];
}

/** Splits a text at its marks. */
export function marked(
  text: string,
  marks: SessionHit["marks"],
): readonly { readonly text: string; readonly hit: boolean }[] {
  const parts: { text: string; hit: boolean }[] = [];
  let index = 0;
  for (const { start, end } of marks) {
    if (start < index || end <= start || end > text.length) continue;
    if (start > index) parts.push({ text: text.slice(index, start), hit: false });
    parts.push({ text: text.slice(start, end), hit: true });
    index = end;
  }
  if (index < text.length) parts.push({ text: text.slice(index), hit: false });
  return parts;
}

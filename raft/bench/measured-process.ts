import type { LoadOrder, LoadResult } from "./load.ts";

/** One member as a process of its own, told over IPC what to do. */
export interface MemberOptions {
  readonly id: number;
  readonly members: number;
  readonly directory: string;
  readonly addedSyncMs: number;
}

export type Order =
  | { readonly order: "peers"; readonly ports: readonly number[] }
  | ({ readonly order: "load" } & LoadOrder)
  | { readonly order: "status" };

export type Report =
  | { readonly report: "listening"; readonly port: number }
  | { readonly report: "status"; readonly leads: boolean; readonly cpuMs: number; readonly rssBytes: number }
  | ({ readonly report: "load" } & LoadResult);

export function report(what: Report): void {
  process.send?.(what);
}

/** Obeys whoever measures, until that is gone. @param obey does what is not the same for all; tells whether it leads */
export function measuredProcess(obey: (order: Order) => Promise<boolean>): void {
  process.on("message", async (order: Order) => {
    const leads = await obey(order);
    if (order.order !== "status") return;
    const { user, system } = process.cpuUsage();
    report({ report: "status", leads, cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() });
  });
  process.on("disconnect", () => process.exit());
}

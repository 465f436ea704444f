import type { LoadOrder, LoadResult } from "./load.ts";

/** Options of a member in its own process, which takes orders over IPC. */
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

/**
 * Follows the orders of the measuring process until it ends. @param obey handles the orders that differ between members,
 * and returns whether this member leads
 */
export function measuredProcess(obey: (order: Order) => Promise<boolean>): void {
  process.on("message", async (order: Order) => {
    const leads = await obey(order);
    if (order.order !== "status") return;
    const { user, system } = process.cpuUsage();
    report({ report: "status", leads, cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() });
  });
  process.on("disconnect", () => process.exit());
}

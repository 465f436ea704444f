import { toBytes } from "../../api/codec/byte-text.ts";
import { formatGoDuration } from "../../api/go-duration.ts";
import type { Clock } from "../../process/clock.ts";
import type { Exchange } from "../../request/exchange.ts";
import { queryValue, type RequestInfo } from "../../request/request-info.ts";
import type { AppPlugin } from "../app.ts";
import { reply } from "../document-reply.ts";
import type { FlowControl } from "./flow-control.ts";
import type { InnerRequest, PriorityLevel } from "./priority-level.ts";
import { widestOf, workOf } from "./seats.ts";

type Row = readonly string[];

const base = "/debug/api_priority_and_fairness";
const columnWidthMin = 8;
/** The start of a request that is still waiting. */
const noTime = "0001-01-01T00:00:00Z";

const levelColumns: Row = [
  "PriorityLevelName",
  "ActiveQueues",
  "IsIdle",
  "IsQuiescing",
  "WaitingRequests",
  "ExecutingRequests",
  "DispatchedRequests",
  "RejectedRequests",
  "TimedoutRequests",
  "CancelledRequests",
];
const queueColumns: Row = [
  "PriorityLevelName",
  "Index",
  "PendingRequests",
  "ExecutingRequests",
  "SeatsInUse",
  "NextDispatchR",
  "InitialSeatsSum",
  "MaxSeatsSum",
  "TotalWorkSum",
];
/** The fifth name is misspelt in upstream too. */
const requestColumns: Row = [
  "PriorityLevelName",
  "FlowSchemaName",
  "QueueIndex",
  "RequestIndexInQueue",
  "FlowDistingsher",
  "ArriveTime",
  "InitialSeats",
  "FinalSeats",
  "AdditionalLatency",
  "StartTime",
];
const detailColumns: Row = [
  "UserName",
  "Verb",
  "APIPath",
  "Namespace",
  "Name",
  "APIVersion",
  "Resource",
  "SubResource",
];

/** Returns the pages that show the current levels, queues and requests. */
export function flowDebugPages(control: FlowControl, clock: Clock): AppPlugin[] {
  const page = (name: string, rows: (exchange: Exchange) => Row[]): AppPlugin => ({
    name,
    paths: [`${base}/${name}`],
    handle: async (exchange) =>
      reply(toBytes(alignedText(rows(exchange))), [["content-type", "text/plain; charset=utf-8"]]),
  });
  const levels = () => control.levels.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [
    page("dump_priority_levels", () => [levelColumns, ...levels().map(levelRow)]),
    page("dump_queues", () => [queueColumns, ...levels().flatMap(queueRows)]),
    page("dump_requests", ({ info }) => {
      const isDetailed = queryValue(info.query, "includeRequestDetails") !== "";
      const epochMs = clock.nowMs() - clock.steadyMs();
      const timeText = (steadyMs: number) => new Date(epochMs + steadyMs).toISOString();
      const rows = levels().flatMap((level) => requestRows(level, isDetailed, timeText));
      return [isDetailed ? [...requestColumns, ...detailColumns] : requestColumns, ...rows];
    }),
  ];
}

function levelRow({ name, queues, isQuiescing, counts }: PriorityLevel): Row {
  const active = queues.queueStates().filter(({ waiting }) => waiting.length > 0).length;
  const { dispatched, rejected, timedOut, cancelled } = counts;
  const numbers = [queues.waiting, queues.running, dispatched, rejected, timedOut, cancelled];
  return [name, String(active), String(queues.isIdle), String(isQuiescing), ...numbers.map(String)];
}

function queueRows({ name, queues }: PriorityLevel): Row[] {
  return queues.queueStates().map(({ waiting, running, seatsInUse, nextDispatch }, index) => {
    const sum = (read: (seats: (typeof waiting)[number]["seats"]) => number) =>
      waiting.reduce((total, { seats }) => total + read(seats), 0);
    return [
      name,
      String(index),
      String(waiting.length),
      String(running),
      String(seatsInUse),
      seatSeconds(nextDispatch),
      String(sum(({ initial }) => initial)),
      String(sum(widestOf)),
      seatSeconds(sum((seats) => workOf(seats))),
    ];
  });
}

/** Returns the requests by queue: first the waiting ones with their positions, then the running ones with -1. */
function requestRows(level: PriorityLevel, isDetailed: boolean, timeText: (steadyMs: number) => string): Row[] {
  const byQueue = new Map<number, { readonly waiting: InnerRequest[]; readonly running: InnerRequest[] }>();
  for (const request of level.requests()) {
    const { state } = request.ticket;
    if (state !== "waiting" && state !== "running") continue;
    const index = level.queues.queueIndexOf(request.ticket);
    let queue = byQueue.get(index);
    if (queue === undefined) byQueue.set(index, (queue = { waiting: [], running: [] }));
    queue[state].push(request);
  }
  const queues = [...byQueue].sort(([a], [b]) => a - b);
  return queues.flatMap(([index, { waiting, running }]) =>
    [...waiting, ...running].map((request, at) => {
      const { flow, ticket } = request;
      const { initial, final, lingerMs } = ticket.seats;
      const isWaiting = at < waiting.length;
      return [
        level.name,
        flow.schema.metadata.name ?? "",
        String(index),
        String(isWaiting ? at : -1),
        flow.distinguisher,
        timeText(ticket.arrivedMs),
        String(initial),
        String(final),
        formatGoDuration(BigInt(Math.round(lingerMs * 1e6))),
        isWaiting ? noTime : timeText(ticket.startedMs),
        ...(isDetailed ? [flow.user.name, ...detailsOf(flow.info)] : []),
      ];
    }),
  );
}

function detailsOf(info: RequestInfo): Row {
  if (info.kind === "nonResource") return [info.verb, info.path, "", "", "", "", ""];
  const { verb, path, namespace, name, group, version, resource, subresource } = info;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return [verb, path, namespace, name, apiVersion, resource, subresource];
}

/** Formats seat-milliseconds as upstream formats its seat-seconds. */
function seatSeconds(seatMs: number): string {
  return `${(seatMs / 1_000).toFixed(8)}ss`;
}

/** Separates the cells with commas, and pads all columns but the last to equal width. */
function alignedText(rows: readonly Row[]): string {
  const width = (column: number) => rows.reduce((most, row) => Math.max(most, (row[column] ?? "").length + 2), 0);
  const last = (rows[0]?.length ?? 0) - 1;
  const widths = Array.from({ length: last }, (_, column) => Math.max(columnWidthMin, width(column)));
  return rows
    .map((row) => row.map((cell, column) => (column === last ? cell : `${cell},`.padEnd(widths[column] ?? 0))).join(""))
    .map((line) => `${line}\n`)
    .join("");
}

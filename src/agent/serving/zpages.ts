import { ComponentPages, type PageAnswer } from "../../http/component-pages.ts";
import { warningValues } from "../../http/filters/warnings.ts";
import type { Clock } from "../../process/clock.ts";
import { header, type Reply } from "../../request/exchange.ts";
import type { Route } from "./route.ts";

/** The paths that kubelet lists: the first segments of those that are not services of its router. */
const listedPaths = ["/configz", "/debug", "/flagz", "/healthz", "/metrics"];

export interface ZPagesOptions {
  readonly clock: Clock;
  readonly flags?: (() => ReadonlyMap<string, string>) | undefined;
}

/** Returns the routes of `/statusz`, and of `/flagz` if there are flags. */
export function zpages({ clock, flags }: ZPagesOptions): Route[] {
  const pages = new ComponentPages({
    component: "kubelet",
    paths: listedPaths.filter((path) => path !== "/flagz" || flags !== undefined),
    clock,
    flags: flags ?? (() => new Map()),
  });
  const route = (name: "statusz" | "flagz"): Route => ({
    path: `/${name}`,
    methods: ["*"],
    handle: ({ request }) => replyOf(pages[name](header(request, "accept"))),
  });
  return flags === undefined ? [route("statusz")] : [route("flagz"), route("statusz")];
}

function replyOf({ page, warnings }: PageAnswer): Reply {
  const values = warningValues(warnings).map((value) => ["warning", value] as const);
  return { ...page, headers: [...page.headers, ...values] };
}

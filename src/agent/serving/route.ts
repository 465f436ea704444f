import type { Eventual } from "../../process/eventual.ts";
import type { HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import type { RequestTarget } from "./request-target.ts";

/** An authorized request with the parameters of its path. */
export interface RouteCall {
  readonly request: IncomingRequest;
  readonly target: RequestTarget;
  readonly nodeName: string;
  /** Values of the `{name}` segments of the route. */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface Route {
  /** Segments; `{name}` stands for any one, a last `*` for any number of them. */
  readonly path: string;
  /** `*` for any method. */
  readonly methods: readonly string[];
  readonly handle: (call: RouteCall) => Eventual<HttpResponse>;
}

/** Returns the parameters of a path, or undefined if it does not match the route. */
export function matchRoute({ path }: Route, { segments }: RequestTarget): Map<string, string> | undefined {
  const pattern = path.slice(1).split("/");
  const hasRest = pattern.at(-1) === "*";
  const fixed = hasRest ? pattern.slice(0, -1) : pattern;
  if (segments.length < fixed.length || (!hasRest && segments.length > fixed.length)) return undefined;
  const parameters = new Map<string, string>();
  for (const [at, expected] of fixed.entries()) {
    const actual = segments[at] as string;
    if (expected.startsWith("{")) parameters.set(expected.slice(1, -1), actual);
    else if (expected !== actual) return undefined;
  }
  return parameters;
}

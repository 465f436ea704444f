import { toBytes } from "../../api/codec/byte-text.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { reply } from "../document-reply.ts";
import { compare } from "./api-resource-list.ts";
import type { Route } from "./discovery-route.ts";

/** Serves `/`, the sorted list of paths. `servedPaths` is called each time, because kinds come and go. */
export function indexRoute(servedPaths: () => readonly string[]): Route {
  return {
    paths: ["/", "/index.html"],
    handle: async () => {
      const exact = servedPaths().filter((path) => !path.endsWith("/*") && (path === "/" || !path.endsWith("/")));
      const paths = [...new Set(exact)].sort(compare);
      return reply(toBytes(stringifyJson({ paths }, 2)), [["content-type", "application/json"]]);
    },
  };
}

import type { JsonObject } from "../../api/json.ts";
import type { SwaggerPart } from "./swagger-part.ts";

/** A Swagger document that is served as OpenAPI 3.0. */
export interface ConvertedDocument {
  readonly info: JsonObject;
  readonly part: SwaggerPart;
}

/** The known OpenAPI documents of extension servers. */
export interface RemoteDocuments {
  /** Returns parts for `/openapi/v2`, the most important first. A part is the same object until it changes. */
  swaggers(): readonly SwaggerPart[];
  /** URLs of OpenAPI 3.0 documents by key, as the servers list them. */
  listed(): ReadonlyMap<string, string>;
  /** Documents by key, of servers that have no OpenAPI 3.0 documents. */
  converted(): ReadonlyMap<string, ConvertedDocument>;
  /** Returns a number that changes with the results of the others. */
  generation(): number;
}

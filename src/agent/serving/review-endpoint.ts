import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { JsonEndpoint } from "../../client/json-endpoint.ts";

export const tokenReviews: ResourceType = { group: "authentication.k8s.io", version: "v1", resource: "tokenreviews" };
export const accessReviews: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  resource: "subjectaccessreviews",
};

/** Returns an endpoint that has the API server answer reviews. */
export function reviewEndpoint(client: Client, type: ResourceType): JsonEndpoint {
  return {
    async post(body, signal) {
      try {
        const review = await client.create(type, JSON.parse(body) as KubeObject, { signal });
        return { code: 201, body: Buffer.from(JSON.stringify(review)) };
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        return { code: error.code, body: Buffer.from(JSON.stringify(error.status)) };
      }
    },
  };
}

import { action, builtInKind } from "../../registry/kind.ts";
import { reviewInNamespace } from "./access-review.ts";

export const localSubjectAccessReview = builtInKind("localsubjectaccessreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewInNamespace(authorizer)),
  descriptions: {
    "authorization/v1.LocalSubjectAccessReview": { "": "May this user do this in this namespace?" },
  },
});

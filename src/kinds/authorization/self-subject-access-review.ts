import { action, builtInKind } from "../../registry/kind.ts";
import { reviewAsker } from "./access-review.ts";

export const selfSubjectAccessReview = builtInKind("selfsubjectaccessreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewAsker(authorizer)),
  descriptions: {
    "authorization/v1.SelfSubjectAccessReview": { "": "May I do this?" },
    "authorization/v1.SelfSubjectAccessReviewSpec": {
      "": "The question; one of the two.",
      resourceAttributes: "A request for objects.",
      nonResourceAttributes: "A request for something else, such as /metrics.",
    },
  },
});

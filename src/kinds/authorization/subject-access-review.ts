import { action, builtInKind } from "../../registry/kind.ts";
import { reviewAnyone } from "./access-review.ts";

export const subjectAccessReview = builtInKind("subjectaccessreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewAnyone(authorizer)),
  descriptions: {
    "authorization/v1.SubjectAccessReview": { "": "May this user do this?" },
    "authorization/v1.SubjectAccessReviewSpec": {
      "": "The question.",
      resourceAttributes: "A request for objects.",
      nonResourceAttributes: "A request for something else, such as /metrics.",
      user: "Name of the user.",
      groups: "Groups of the user.",
      extra: "Further attributes of the user.",
      uid: "Id of the user.",
    },
    "authorization/v1.SubjectAccessReviewStatus": {
      "": "The answer.",
      allowed: "Whether it is allowed.",
      denied: "Whether it is forbidden, whatever others would say.",
      evaluationError: "An error during the evaluation.",
    },
  },
});

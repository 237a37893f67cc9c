import type { Call, Outcome } from "../spec.ts";
import { withReview } from "./review.ts";
import { reviewJson, reviewText } from "./told.ts";

/** One request with the exact text that a signature covers. Changes nothing, and decides nothing. */
export async function run(call: Call): Promise<Outcome> {
  const [nonce = ""] = call.arguments;
  return await withReview(call, async ({ review, place }) => {
    const asked = review.find(nonce);
    const how = [
      `hint: approve it with  rote approvals approve ${nonce} ${place} --key KEY --as NAME`,
      `hint: reject it with   rote approvals reject ${nonce} ${place} --key KEY --as NAME`,
    ];
    return {
      exit: "verified",
      json: { host: review.origin, request: reviewJson(asked) },
      text: [...reviewText(asked), ...(asked.status === "waiting" ? how : [])].join("\n"),
    };
  });
}

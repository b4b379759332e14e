import { Fragment, memo } from "react";
import { splitInvisible } from "./invisible-characters";

/**
 * Shows text from a page, a model or a user. It is isolated from the surrounding text, so that it cannot change the writing direction, and
 * its invisible characters are spelled out.
 */
export const UntrustedText = memo(function UntrustedText({ text, className }: { text: string; className?: string }) {
  return (
    <bdi className={className}>
      {splitInvisible(text).map((span, index) =>
        span.invisible ? (
          <span key={index} className="mx-px rounded-sm bg-bad-wash px-1 font-mono text-[0.8em] text-bad" data-invisible>
            {span.text}
          </span>
        ) : (
          <Fragment key={index}>{span.text}</Fragment>
        ),
      )}
    </bdi>
  );
});

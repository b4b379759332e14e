import { Fragment, memo } from "react";
import { spans } from "./invisible";

/** Text from a page, a planner or a person: isolated from the text around it, with every invisible character spelled out. */
export const Said = memo(function Said({ text, className }: { text: string; className?: string }) {
  return (
    <bdi className={className}>
      {spans(text).map((span, index) =>
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

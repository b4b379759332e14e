import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

/** A modal dialog. It keeps the keyboard focus until it is closed, and then returns it. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed inset-x-0 bottom-0 z-50 max-h-[90dvh] overflow-y-auto rounded-t-2xl border bg-panel p-5 shadow-2xl sm:inset-auto sm:top-1/2 sm:left-1/2 sm:w-[34rem] sm:max-w-[94vw] sm:-translate-1/2 sm:rounded-2xl"
        >
          <Radix.Title className="mb-3 pr-8 text-lg font-semibold">{title}</Radix.Title>
          {description && <div className="mb-4 text-sm text-soft">{description}</div>}
          {children}
          {/* Last in order, so that the focus starts at the content of the dialog. */}
          <Radix.Close aria-label="Close" className="absolute top-4 right-4 rounded-md p-1.5 text-soft hover:bg-sunken hover:text-ink">
            <X aria-hidden className="size-5" />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const FIELD = "w-full rounded-lg border border-edge bg-panel px-3 py-2 text-sm text-ink placeholder:text-soft";

/** A form field with its label. `children` renders the control with the given class name. */
export function Field({ label, hint, children }: { label: string; hint?: ReactNode; children: (className: string) => ReactNode }) {
  return (
    <label className="block">
      <span className="mb-1 block text-sm font-medium">{label}</span>
      {children(FIELD)}
      {hint && <span className="mt-1 block text-xs text-soft">{hint}</span>}
    </label>
  );
}

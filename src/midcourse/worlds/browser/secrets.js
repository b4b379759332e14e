// Where a secret would be typed, and that it must not be pictured there. In a world of our own.
globalThis.midcourse ??= {};
midcourse.origin = () => JSON.stringify(self.origin);
midcourse.conceal = (number) => midcourse.element(number).setAttribute('data-midcourse-secret', '');

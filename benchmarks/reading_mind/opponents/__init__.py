"""Other agent systems that carry out tasks of this bench with a reading mind in their model's place."""

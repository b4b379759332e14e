"""Long texts for the wikis: a history, rules with fees, and two cranes."""

RULES = "\n\n".join(
    [
        "These rules were adopted by the harbour board and hold for all berths between the east mole and the fish market.",
        *(
            f"Rule {number}. {text}"
            for number, text in enumerate(
                (
                    "Boats arrive under engine, at three knots at most, and report to the harbour master on channel 12 before they pass the mole head.",
                    "Lines are doubled when a gale is announced. Whoever is absent names somebody who will do it; the harbour's people charge 35 EUR for it.",
                    "Water is free. Electricity is paid by the meter at 0.42 EUR for a kilowatt hour, and read on the day of departure.",
                    "The slipway is booked at least two days ahead. A mast crane operator is included for the first hour, and costs 48 EUR for each further one.",
                    "Waste oil is brought to the tank behind the ice house. Paint is not scraped over open water, at no time of the year.",
                    "Dogs are on a lead from the gate to the boat. The bathing steps at the north pier are for people alone.",
                    "Boats up to 8 m pay 14 EUR a night, boats up to 12 m pay 23 EUR, boats up to 15 m pay 27 EUR, and longer ones 41 EUR. A multihull pays one and a half times as much.",
                    "From the fifteenth of October to the end of March the fees of rule 7 are halved, except for boats that are lived in.",
                    "A guest who stays for more than ten nights in a row is given every eleventh night for nothing.",
                    "The harbour master may move a boat whose crew is away, and leaves a note on its berth.",
                    "Fireworks, drones and barbecues need a permit, which is given for a day and costs nothing.",
                    "Complaints are written into the book in the office, and answered within two weeks by the board.",
                ),
                start=1,
            )
        ),
    ]
)
HISTORY = "\n\n".join(
    f"In {1850 + 9 * number} the {('east', 'west', 'north', 'south')[number % 4]} mole was {('built', 'raised', 'repaired', 'lit')[number % 4]} again, after "
    f"{3 + number % 5} winters of storms, by {40 + 13 * number} workers from the villages around, who were paid {2 + number % 3} crowns a day. "
    f"The board noted that {90 + 31 * number} ships called in that year, most of them with {('salt', 'herring', 'timber', 'coal')[number % 4]}."
    for number in range(18)
)
CRANES = {
    "Crane North": "Crane North stands at the timber quay. It was built in 1931 by Demag, lifts 24 t, and its jib is 31 m long. It was last inspected in May.",
    "Crane South": "Crane South stands at the coal quay. It was built in 1948 by Kampnagel, lifts 37 t, and its jib is 28 m long. It was last inspected in June.",
}

"""What follows from data stands in a reply, and what nothing gives does not: rule by rule, with
replies that stand and replies that fall."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from webbee_kernel.grounding import Call, Evidence, check

NOW = "2026-11-20T10:00:00Z"
RULES = """
an id is known by its number, and what a calculator returned is shown
  = {"certificate_7504069": {"source": "certificate", "amount": 500},
  = "gift_card_8190333": {"source": "gift_card", "amount": 128}},
  = 329.0
  + Use certificate 7504069: $500
  - Use certificate 7504169: $500
  - Certificate 7504069 pays it, $181 remain.
the rows of lists in a list are records of their own
  = [[{"flight": "HAT1", "price": 158}, {"flight": "HAT2", "price": 103}], [
  = {"flight": "HAT3", "price": 141}, {"flight": "HAT4", "price": 77}]]
  + HAT1 and HAT4 cost $235 together.
  + HAT3 costs $141.
  - HAT3 costs $158.
a date is counted from the length that the message names
  = {"deadlines": [{"title": "Hearing", "date": "2026-11-25"}]}
  ? What is due in the next two weeks?
  + Until 4 December only the hearing is due.
and from none where it names none
  ? What is due?
  - Until 4 December only the hearing is due.
what a reply tells is averaged, and a rounded amount is no quote
  = {"fares": [{"code": "F00", "price": 1000}, {"code": "F01", "price": 1070},
  = {"code": "F02", "price": 1140}, {"code": "F03", "price": 1210}, {"code": "F04", "price": 1280},
  = {"code": "F05", "price": 1350}, {"code": "F06", "price": 1420}, {"code": "F07", "price": 1490},
  = {"code": "F08", "price": 1560}, {"code": "F09", "price": 1630}, {"code": "F10", "price": 1700}]}
  + F01: 1070⏎F04: 1280⏎F10: 1700⏎⏎Evened out: 1350 apiece.
  + F01 costs “around 1,070”.
  - F01: 1070⏎F04: 1280⏎F10: 1700⏎⏎Evened out: 1430 apiece.
  - F01 costs “687”.
what one record has is held against what stands beside all
  = {"carry_over_limit": 5, "staff": [{"name": "Saskia", "taken": 9, "left": 16},
  = {"name": "Emil", "taken": 11, "left": 12}, {"name": "Tobias", "taken": 19, "left": 3}]}
  + With a limit of 5, Saskia would lose 11 days.
  - With a limit of 5, Saskia would lose ⟦12 ≠ left: 16⟧ days.
lists side by side are the columns of a table
  = {"station": "Hochmoor", "date": ["2026-11-23", "2026-11-24", "2026-11-25", "2026-11-26"],
  = "t_max": [5.6, 6.9, 8.2, 9.4], "rain": [0, 4.2, 12.6, null]}
  + The peak was 9.4 °C on Thursday, after 8.2 on Wednesday.
  + In all 16.8 mm of rain fell in four days, most on the 25th.
  - The peak was ⟦9.4 ≠ t_max: 8.2⟧ °C on Wednesday.
  - It was 6.9 °C on 24 November and ⟦5.6 ≠ t_max: 8.2⟧ on 25 November.
lists of tags are none
  = {"tags": ["home", "urgent", "shared"], "members": ["Ann", "Bo", "Cy"]}
  + Ann and Bo share what is urgent.
and rows of plain lists have the names that stand beside them
  = {"columns": ["day", "city", "price_eur"], "rows": [["2026-11-23", "Bonn", 120.5],
  = ["2026-11-24", "Mainz", 340], ["2026-11-25", "Trier", 95]]}
  + Mainz costs €340, Trier €95, all three €555.50.
  - Mainz costs ⟦€120.50 ≠ price_eur: 340⟧.
amounts of one record are added and divided
  = {"name": "Mill Lane 4", "rent": 1330, "area_m2": 62, "deposit_pence": 266000}
  + It costs £21.45 per square metre.
  + It costs roughly £21.50 per square metre.
  + The deposit is £2,660.
  + You pay £3,990 at first.
  - It costs £23.45 per square metre.
  - The deposit is £2,600.
  - You pay £3,890 at first.
what is told is worked out by the year, the week and the day
  + It is €1,330 a month, €15,960 a year.
  - It is €1,330 a month, €15,690 a year.
what stands at one place of each line adds up
  + - rent €1,330, a year €15,960⏎- area 62 m², deposit €2,660⏎⏎All in all €18,620.
  - - rent €1,330, a year €15,960⏎- area 62 m², deposit €2,660⏎⏎All in all €18,260.
dates are counted
  = {"start": "2026-01-31", "end": "2026-08-30", "notice_days": 30, "opens": "Tue-Sat 9-13"}
  + Give notice by 31 July 2026.
  + They are open on Thursday.
  + They are open on Monday.
  - Give notice by 7 August 2026.
times are read as a clock is
  = {"title": "Yoga 60", "start": "2026-03-10T11:47", "from": "14:00", "to": "18:00"}
  + It begins at about 11:50.
  + It begins at quarter to twelve.
  + They come between 2 and 6.
  + They come between 14:00 and 18:00.
  + Yoga 60 begins at 11:47.
  - It begins at 11:50.
  - It begins at about 11:20.
  - They come between 14:00 and 18:20.
also in German
  +de Der Termin beginnt um Viertel vor zwölf.
a figure follows only from figures of its kind
  = {"kilns": [
  = {"name": "Bertha", "run_minutes": 34, "fee_eur": 18.0, "load_kg": 40, "spare_kg": 12},
  = {"name": "Flint", "run_minutes": 50, "fee_eur": 21.5, "load_kg": 60, "spare_kg": 31}]}
  + Both fees come to €39.50.
  + Bertha could be loaded with 28 kg more than now.
  + Bertha and Flint were loaded with 100 kg.
  - Bertha's fee plus the extra comes to €52.  # minutes and euros
  - Bertha and Flint were loaded with 39.5 kg.  # the sum of the fees
whole amounts may be hundredths where the reply tells them so
  = {"payments": [{"customer": "Brasserie Nord", "amount": 12900, "currency": "eur"},
  = {"customer": "Atelier Fuchs", "amount": 4550, "currency": "eur"},
  = {"customer": "Hansen", "amount": 870, "currency": "eur"}]}
  + Brasserie Nord paid €129.00 and Atelier Fuchs €45.50.
  + Together that is €183.20: €129.00, €45.50 and €8.70.
  + Brasserie Nord paid 12,900 EUR.  # a service may mean whole euros
  - Brasserie Nord paid €129.00 and Atelier Fuchs €46.50.
  - Brasserie Nord paid €45.50.
  - Together that is €193.20: €129.00, €45.50 and €8.70.
amounts are compared by value in any format
  = {"rows": [{"n": "Acme", "amount": 1234.5}, {"n": "Bee", "amount": 980.0},
  = {"n": "Cee", "amount": 410.25}], "currency": "EUR"}
  + The total is 2 624,75 €.
  + The total is €2,624.75.
  + The total is about 2,600.
  + The total is €2,625.
  + Acme is 1,234.50, which is 254.50 more than the next.
  + Acme is 1.2345 thousand.
  - The total is €2,642.75.
  - The total is $2,624.75.
units are converted
  = {"start": "2026-05-18T10:00:00", "end": "2026-05-18T10:30:00",
  = "size": 2400000, "saved_at": 1778865664}
  + It takes 30 minutes.
  + It takes half an hour, until 10:30.
  + The file is 2.4 MB.
  + It was saved on 15 May 2026.
  - The file is 3.4 MB.
  - It was saved on 16 May 2026.
a figure said to be rough or a bound stands for others
  = {"shops": [{"name": "Nettle", "keeper": "Ines Vane", "rating": 4.5, "seats": 338, "rent": 210},
  = {"name": "Sorrel", "keeper": "Tove Lind", "rating": 5.0, "seats": 512, "rent": 380},
  = {"name": "Yarrow", "keeper": "Ines Vane", "rating": 3.5, "seats": 497, "rent": 650}]}
  + Sorrel has about 510 seats.
  + Nettle has about 335 seats.
  + Yarrow costs over 600 in rent.
  - Nettle has about 512 seats.  # what Sorrel has
  - No shop is over Yarrow: 614.
  - - **Sorrel**⏎  - Maximum rent: 411
levels are averaged and never summed or multiplied
  + The average rating is 4.33.
  - Sorrel is rated 13.  # the sum of all ratings
  - Sorrel is rated 1050.  # times its neighbour's rent
whatever sign stands behind a label, its value is a slot
  + - Nettle → rent · 210
  + 1/ Nettle / rent (210)
  + - **Nettle** [seats ➜ 338, rent ➜ 210]
  - - Nettle → rent · 441
  - 1/ Nettle / rent (441)
  - - **Nettle** [seats ➜ 338, rent ➜ 441]
  - Row Nettle, field “number”: `74185`  # in quotes it names no field
shares, lengths of time and rough figures are worked out and not doubted
  + It comes to 48 % in all.
  + It comes to 45 minutes in all.
  + It comes to 2:14:33 in all.
  + It comes to about 913 in all.
  + It comes to sixty-three in all.
  - It comes to 913 in all.
fewer than a list has are a part of it, and more are none
  + Two shops are near the station.
  - Seven shops are too many, two shops are near.
what some rows add up to stands where chance would hardly give it
  = [{"job": "T-1", "words": 4200, "rate_rub": 2.8, "stage": "new"},
  = {"job": "T-2", "words": 12500, "rate_rub": 2.4, "stage": "late"},
  = {"job": "T-3", "words": 3130, "rate_rub": 3.1, "stage": "proof"},
  = {"job": "T-4", "words": 760, "rate_rub": 3.5, "stage": "done"}]
  + T-2 comes to 30,000 ₽.
  + 17,460 words are still to be done.
  + In all 54,123 ₽.
  - T-2 comes to 31,000 ₽.
  - 17,480 words are still to be done.
  - In all 54,323 ₽.
a capital that only German writes names no record
  = {"items": [{"name": "Packing tape", "qty": 864, "bin": "B-04-2"},
  = {"name": "Thermal label roll", "qty": 512, "bin": "D-01-1"}]}
  +de Vom Packing tape liegen 864 Rollen in Fach B-04-2.
  -de Vom Packing tape liegen 864 Rollen in Fach D-01-1.
a sentence ends behind a unit
  = {"days": [{"date": "2026-11-29", "wind": 28}, {"date": "2026-11-30", "wind": 41}]}
  +ru 29 ноября ветер до 28 км/ч. 30 ноября ветер до 41 км/ч.
  -ru 29 ноября ветер до 41 км/ч. 30 ноября дождь.
a class is no count
  = {"class": "8b", "lessons": [{"subject": "Music"}, {"subject": "Physics"}, {"subject": "Music"},
  = {"subject": "Physics"}]}
  + 8b lessons are on Monday.
  - 8 lessons are on Monday.
a share is that of its own record
  = {"discs": [{"disc": "Basalt", "used_pct": 71}, {"disc": "Gneiss", "used_pct": 38}]}
  + Basalt is at 71 %.
  - Basalt is at 38 %.
figures that add up to a total are its parts, and a total has the parts behind its colon
  = {"singers": 27, "voices": {"sopranos": 8, "altos": 9, "tenors": 5, "basses": 5}}
  + 27 singers: 8 sopranos, 9 altos, 5 tenors and 5 basses.
  + Of 27 singers 8 are sopranos, 9 altos, and 10 men.  # 10 is told by the others alone
  + Nobody above 8: 9, 9 and 5 stay.
  - 13 singers: 8 sopranos, 9 altos, 5 tenors and 5 basses.
  - 24 singers: 8 sopranos, 9 altos, 5 tenors and 5 basses.
  - Of 26 singers 8 are sopranos, 9 altos, and 10 men.
a figure has the unit of its field, or is converted
  = {"days": [{"day": "2026-11-14", "fed_in_kwh": 13.0}, {"day": "2026-11-15", "fed_in_kwh": 4.5}]}
  + On 14 November it was 13 kWh.
  + On 14 November it was 0.013 MWh, or 13,000 Wh.
  - On 14 November it was 13.0 MWh.
  - On 14 November it was just over 13.0 Wh.
in every language, by its sign and by its name
  +ru 14 ноября было 13 кВт·ч.
  +ru 14 ноября было 13 киловатт-часов.
  -ru 14 ноября было 13 Вт·ч.
  -ru 14 ноября было 13 МВт·ч.
or the unit that stands beside it
  = {"doses": [{"drug": "Levodopa", "amount": 75, "unit": "mg"}, {"drug": "Zinc", "amount": 9}]}
  + Levodopa: 75 mg.
  + Levodopa: 0.075 g.
  - Levodopa: 75 g.
hundredths are told by their word
  = [{"kwh": 40, "cost_eur": 27.6}, {"kwh": 31, "cost_eur": 9.3}]
  + The dearest was 69 cents a kWh.
  - The dearest was 73 cents a kWh.
a month at the head of a row is nobody's name
  = [{"month": "2026-01", "kwh": 356}, {"month": "2026-02", "kwh": 302}]
  + | Month | kWh |⏎|-|-|⏎| Jan | 356 |⏎| Feb | 302 |
  - | Guest | kWh |⏎|-|-|⏎| Peter Okoro | 356 |
an id beside two fields of another record is its id told wrongly
  = {"parcels": [
  = {"track": "PK-7701", "from": "Lumen", "weight_kg": 5.1, "arrives": "2026-11-30T10:00"},
  = {"track": "PK-8802", "from": "Orion", "weight_kg": 2.4, "arrives": "2026-11-30T14:00"},
  = {"track": "PK-9903", "from": "Vega", "weight_kg": 8.7, "arrives": "2026-12-02T09:00"}]}
  + The parcel from Lumen (5.1 kg) is PK-7701.
  + It weighs 5.1 kg and comes from Lumen. PK-7701 is its number.
  + The parcel from Lumen (5.1 kg) is heavier than PK-8802 (2.4 kg).
  - The parcel from Lumen (5.1 kg) is PK-8802.
  - The one from Lumen is 5.1 kg. It comes on 30 November at 14:00.
the day and the time of a moment are of one record
  + Vega's comes on Wednesday, 2 December at 9:00.
  - Vega's comes on Wednesday, 2 December at 14:00.
a time with seconds is compared with its seconds
  = {"women": [{"name": "Ana Rey", "half": "1:18:40"}, {"name": "Ida Holm", "half": "1:18:12"}]}
  + Ida Holm passed in 1:18:12.
  - Ida Holm passed in 1:18:40.
a state in a table is that of its row
  = {"stock": [{"group": "Type O", "units": 14, "level": "low"},
  = {"group": "Type A", "units": 38, "level": "fine"},
  = {"group": "Type B", "units": 9, "level": "critical"}]}
  + | Group | | |⏎|-|-|-|⏎| Type O | 14 | low |⏎| Type A | 38 | fine |⏎| Type B | 9 | critical |
  - | Group | | |⏎|-|-|-|⏎| Type O | 14 | low |⏎| Type A | 38 | fine |⏎| Type B | 9 | low |
who is named behind a number are as many as it says
  = [{"name": "Ana", "time": "1:18"}, {"name": "Ida", "time": "1:19"},
  = {"name": "Uma", "time": "1:21"}, {"name": "Eva", "time": null}, {"name": "Mia", "time": null},
  = {"name": "Lea", "time": null}, {"name": "Zoe", "time": null}]
  + Three finished: Ana (1:18), Ida (1:19) and Uma (1:21).
  + Three finished – Ana, Ida and Uma.
  + Of seven who started three finished: Ana, Ida and Uma.
  - Five finished: Ana (1:18), Ida (1:19) and Uma (1:21).
  - Five finished – Ana, Ida and Uma.
a figure of another measure than its field's is not that field's
  = [{"hut": "Brunn", "walk_h": 2.25, "water_l": 6200}]
  + Brunn is 2.25 hours away and has 6,200 litres.
  - Brunn is 2.25 km away.
  - Brunn has 6,200 gallons.
a name is known in another script
  = {"lab": [{"who": "Dr. Ilse Höfer"}, {"who": "Julia Weigand"}]}
  +ru Их двое: доктор Хёфер и Юлия Вайганд.
  -ru Его ведёт Юлия Штайнер.
the parts behind a colon add up, are as many as it says, or none of either
  = {"items": [{"thing": "umbrella"}, {"thing": "umbrella"}, {"thing": "bag"}, {"thing": "reader"}]}
  + Four are left: two umbrellas, one bag and one reader.
  + Three kinds are left: two umbrellas, one bag and one reader.
  - Six are left: two umbrellas, one bag and one reader.
a date in words is known in another language than the data's
  = {"flat": "4B", "note": "Baño nuevo hasta el 7 de abril"}
  + The new bathroom takes until 7 April.
  - The new bathroom takes until 9 April.
a share of two fields of a record is that record's
  = [{"host": "web-01", "used_gb": 11.2, "total_gb": 16, "disk_pct": 58, "uptime_days": 9},
  = {"host": "web-02", "used_gb": 12.1, "total_gb": 16, "disk_pct": 61, "uptime_days": 112}]
  + web-01 uses 11.2 of 16 GB (70%).
  - web-01 uses 11.2 of 16 GB (61%).
a long length of time stands in the data
  + web-02 is up for 112 days.
  - web-02 is up for 211 days.
hours count from a moment, those of a row from its own times alone
  = {"checkin_hours_before": 36, "legs": [
  = {"flight": "LN 412", "departs": "2026-03-24T07:35", "delay_minutes": 25},
  = {"flight": "LN 88", "departs": "2026-03-24T11:50", "delay_minutes": 0}]}
  + Check-in for LN 412 opens on 22 March at 7:35 pm.
  + LN 412 leaves at 8:00.
  - Check-in for LN 412 opens on 21 March at 7:35 pm.
  - LN 88 leaves at 12:15.
energy has its unit too
  = {"dish": "Plov", "kcal": 815}
  + Plov has 815 kcal.
  - Plov has 815 kJ.
a weight is no amount, and a fee for a month no length of time
  = [{"box": "C0", "gross_weight_kg": 21840, "lease_eur_month": 289.0},
  = {"box": "C1", "gross_weight_kg": 18265, "lease_eur_month": 249.5},
  = {"box": "C2", "gross_weight_kg": 24310, "lease_eur_month": 198.0}]
  + All three weigh 64,415 kg.
  + In all it is €736.50 a month.
  - All three weigh 64,515 kg.
  - In all it is €746.50 a month.
what is below zero is added up, and what is above
  = {"booked": [{"amount_eur": -940.0}, {"amount_eur": 2315.6}, {"amount_eur": -63.48},
  = {"amount_eur": 35.0}, {"amount_eur": -71.22}, {"amount_eur": 58.99}]}
  + Out went €1,074.70, in came €2,409.59.
  - Out went €1,084.70.
a time that has a zone may be told in another one
  = [{"ship": "Castor", "eta": "2026-09-19T04:30:00Z"}, {"at": "2026-11-30T08:20:00-05:00"}]
  + Castor is due at 04:30 UTC (6:30 our time).
  + Aiko calls at 14:20.
  - Castor is due at 04:30 UTC (6:45 our time).
  - Aiko calls at 11:35.
a time without one is told as it is
  = [{"ship": "Castor", "eta": "2026-09-19 04:30"}]
  + Castor is due at 4:30.
  - Castor is due at 6:30.
a length in thousandths is told in minutes and seconds
  = [{"song": "Exit North", "duration_ms": 221000},
  = {"song": "Engine", "duration_ms": 312400, "added": "2026-11-01T12:20"}]
  + Exit North lasts 3:41, Engine 5:12.
  - Exit North lasts 3:14.
an amount in hundredths is told without its currency
  = [{"by": "Ines", "amount": 12900}, {"by": "Jonas", "amount": 1990}]
  + 129.00 of Ines, 19.90 of Jonas.
  - 129.50 of Ines.
what two fields leave of a third is of the same record
  = [{"stop": "Est", "docks": 64, "mech": 41, "electric": 5},
  = {"stop": "Sur", "docks": 77, "mech": 18, "electric": 29}]
  + Est has 18 free docks.
  - Est has 29 free docks.
a length in hundredths of a second is one figure
  = [{"swimmer": "Mia Fuchs", "time_ms": 61240}, {"swimmer": "Lea Hart", "time_ms": 60870}]
  + Lea Hart won in 1:00.87, with Mia Fuchs second in 1:01.24.
  - Lea Hart won in 1:00.87 on lane 24.
what two days differ by is theirs, whatever a third one has
  = {"days": [{"date": "2026-11-30", "min_c": -4.5, "max_c": 3.0},
  = {"date": "2026-12-02", "min_c": -9.5, "max_c": -2.5},
  = {"date": "2026-12-03", "min_c": -6.0, "max_c": 2.0}]}
  + On Thursday it climbs to 2 degrees, 4.5 degrees more than on Wednesday.
  - On Thursday it climbs to 2 degrees, 5.5 degrees more than on Wednesday.
a total with a unit counts nothing that follows its colon
  = {"visits": [{"day": "2026-11-16", "minutes": 45}, {"day": "2026-11-18", "minutes": 45}]}
  + There are 90 minutes in all: one on the 16th, one on the 18th and one of none.
a short word ends a sentence, and so does a bracket
  = {"cars": [{"plate": "B-LM 902", "until": "2026-12-31", "km": 60544},
  = {"plate": "b-kx 441", "until": "2027-03-31", "km": 48210}]}
  +de B-LM 902 hat 60.544 km. Die Plakette läuft am 31.12. ab. B-KX 441 hat 48.210 km.
  +de B-LM 902 ist alt (60.544 km). b-kx 441 hat 48.210 km.
  -de B-LM 902 ist alt (48.210 km). b-kx 441 hat 60.544 km.
a text that is an amount is a figure of its column
  = {"stays": [
  = {"guest": "Otero", "from": "27/11/2026", "to": "29/11/2026", "pax": 5, "paid": "390,00 €"},
  = {"guest": "Sandberg", "from": "04/12/2026", "to": "08/12/2026", "pax": 2, "paid": "612,00 €"},
  = {"guest": "Arrieta", "from": "18/12/2026", "to": "20/12/2026", "pax": 4, "paid": "€ 370,-"}]}
  +de Zusammen haben die drei 1.372 € bezahlt, im Schnitt 457,33 €.
  -de Zusammen haben die drei 1.472 € bezahlt.
a column that is of other rows nearly everywhere is worked out
  +es | Huésped | | € |⏎|-|-|-|⏎| Otero | 2 | 390 |⏎| Sandberg | 4 | 612 |⏎| Arrieta | 2 | 370 |
  -es | Huésped | | € |⏎|-|-|-|⏎| Otero | 2 | 612 |⏎| Sandberg | 4 | 612 |⏎| Arrieta | 2 | 370 |
so many at a price cost that, whatever the keys are called
  = [{"item": "Ring 44", "held": 128, "ek": 14.2}, {"item": "Inner tube", "held": 412, "ek": 2.1}]
  + The inner tubes stand for 865.20 euros, the rings for 1,817.60.
  - The inner tubes stand for 895.20 euros.
a time for each kilometre is no time of day
  = [{"when": "2026-11-12 18:20", "km": 5.0, "moving": "00:25:05"},
  = {"when": "2026-11-14 09:03", "km": 41.6, "moving": "01:52:30"}]
  + 5 km in 25:05 from 18:20 on, which is 5:01 per kilometre.
  - 5 km in 25:05 from 18:40 on.
a long number that the user wrote is no number of rows
  = {"accounts": [{"id": "a", "unread": 8}, {"id": "b", "unread": 1}]}
  ? book 300418, or 3004
  + Nothing is known of 300418 among your accounts.
  - You have 3004 accounts.
an amount is told in another currency by its rate
  = {"base": "EUR", "rates": {"USD": 1.16, "CHF": 0.94}},
  = {"price": 298, "currency": "EUR"}
  + 298 euros are 345.68 dollars or 280.12 Swiss francs.
  - 298 euros are 354.68 dollars.
a large figure is worked out in thousands
  = [{"model": "Boxer", "km": 132904, "due_km": 130000},
  = {"model": "Daily", "km": 201877, "due_km": 215000}]
  + The Daily has 13,000 km to go.
  - The Daily has 15,000 km to go.
pounds and pence are one amount
  = {"orders": [{"no": "P1", "total_cents": 31275}, {"no": "P2", "total_cents": 8450}]}
  + P1 comes to 312 pounds 75 pence.
  - P1 comes to 312 pounds 57 pence.
a word that says about is no number
  = {"plays": [{"n": 1, "count": 18240}, {"n": 2, "count": 15717}]}
  +es Unas 16.970 de media.
  -es Son 16.790 de media.
an amount in hundredths has its sign left away, also in what is added up
  = {"currency": "EUR", "balance_cents": 284317, "tx": [{"to": "Rent", "amt": -98000},
  = {"to": "Lidl", "amt": -3819}, {"to": "Zalando", "amt": 4995}, {"to": "Wages", "amt": 312000}]}
  + €38.19 went to Lidl.
  + €1,018.19 went out.
  - €39.19 went to Lidl.
  - €1,028.19 went out.
so many at a price that is a text
  = {"houses": [{"city": "Porto", "sold": 63, "adr": "118.00"},
  = {"city": "Valencia", "sold": 35, "adr": "96.40"}]}
  + Porto brought 7,434.00 euros, Valencia 3,374.00, both 10,808.00.
  - Porto brought 7,443.00 euros.
the sum over the rows of one state
  = {"rides": [{"client": "Vidal", "km": 3.4, "state": "done"},
  = {"client": "Sol", "km": 2.1, "state": "done"}, {"client": "Lar", "km": 4.8, "state": "failed"},
  = {"client": "Ruiz", "km": 1.6, "state": "done"},
  = {"client": "Vidal", "km": 6.2, "state": "done"}, {"client": "Ana", "km": 3.9, "state": "done"}]}
  + Five are done, 17.2 km in all.
  - Five are done, 19.4 km in all.
so many pieces are no number of rows
  = {"plants": [{"kind": "Lavender", "stk": 140, "price": 3.99},
  = {"kind": "Heath", "stk": 260, "price": 1.49}, {"kind": "Olive", "stk": 6, "price": 89.0}]}
  + There are 406 plants.
  - There are 416 plants.
what three figures of a row give
  = {"positions": [{"paper": "Fund", "stk": 125, "bought": 88.4, "price": 97.12},
  = {"paper": "Basf", "stk": 60, "bought": 46.75, "price": 43.2}]}
  + The fund has gained 1,090.00 euros, Basf lost 213.00.
  - The fund has gained 1,900.00 euros.
what three figures of each row give adds up
  + You are 877.00 euros ahead of what you paid.
  - You are 778.00 euros ahead of what you paid.
what an amount is for one of several
  = {"rooms": [{"room": "Sea view", "price_eur": 267.0}, {"room": "Yard", "price_eur": 99.0}]}
  + The sea view is 89 euros a night.
  - The sea view is 98 euros a night.
a figure that may be a day of a language is one
  = {"results": [{"t": "TSH", "v": 2.14, "ref": "0.27-4.20"}, {"t": "CRP", "v": 0.6}]}
  +fr La TSH est à 2,14 (norme 0,27 à 4,20).
  -fr La TSH est à 2,14 (norme 0,27 à 4,30).
a record without the field of a column tells another there
  = {"pieces": [{"slug": "metro", "at": "2026-10-06T06:30:00"},
  = {"slug": "opera", "at": "2026-10-06T20:00:00"}, {"slug": "tram", "at": "2026-10-06T08:05:00"},
  = {"slug": "river", "due": "2026-10-06T15:00:00"}]}
  + | Piece | |⏎|-|-|⏎| metro | 6:30 |⏎| opera | 20:00 |⏎| tram | 8:05 |⏎| river | 15:00 |
  - | Piece | |⏎|-|-|⏎| metro | 6:30 |⏎| opera | 20:00 |⏎| tram | 20:00 |⏎| river | 15:00 |
a value may be of the label behind it
  = {"terms": [{"what": "Serve statements", "due": "2026-10-16", "owner": "P. Adeyemi"},
  = {"what": "Reply to defence", "due": "2026-10-09", "owner": "E. Marsh"},
  = {"what": "Costs budget", "due": "2026-11-03", "owner": "R. Cole"},
  = {"what": "Checklist", "due": "2026-11-13", "owner": "E. Marsh"}]}
  + On 16 October statements (by P. Adeyemi), on 13 November the list (E. Marsh).
  - On 16 October statements (by P. Adeyemi), on 3 November a list.
a moment of Unix time is told in the zone of the user
  = {"scans": [{"dept": "Cardiology", "start_unix": 1791441900},
  = {"dept": "Radiology", "start_unix": 1791891000}, {"dept": "Eyes", "start_unix": 1792416600}]}
  @ 2026-10-07T09:00:00+02:00
  + Radiology is at 13:30.
  + Cardiology is at 8:45.
  - Radiology is at 15:30.
a rate in hundredths is an amount
  = {"currency": "EUR", "rooms": [{"no": "101", "status": "taken", "rate_minor": 7800},
  = {"no": "102", "status": "free", "rate_minor": 11200},
  = {"no": "103", "status": "taken", "rate_minor": 11200},
  = {"no": "104", "status": "shut", "rate_minor": 11200}]}
  + Two rooms are taken, which brings 190.00 €.
  - Two rooms are taken, which brings 109.00 €.
what the data shows may be said
  = {"unread": 8, "total": 142, "messages": [
  = {"id": "abc", "from": "sarah@example.com", "name": "Sarah Connor", "subject": "Q3 plan",
  = "at": "2026-05-15T17:21:04Z", "unread": true},
  = {"id": "abd", "from": "<EMAIL_1>", "name": "Пётр Иванов", "subject": "Смета INV-2031",
  = "at": "2026-05-14T09:05:00Z", "unread": false},
  = {"id": "abe", "from": "bot@ci.example", "name": null,
  = "subject": "v2.14.3 https://ci.example/run/7", "at": "2026-05-14", "unread": true}]}
  + You have 8 unread messages out of 142.
  + Eight unread, 134 read.
  + У вас восемь непрочитанных писем из 142.
  + Here are 3 messages, two of them unread.
  + Sarah Connor wrote on May 15 at 5:21 PM.
  + Sarah wrote on Friday, 15 May 2026, 17:21.
  + Письмо от Петра Иванова пришло 14 мая 2026 года в 9:05.
  + Пришло 14.05.2026: «Смета INV-2031», от <EMAIL_1>.
  + From sarah@example.com: “Q3 plan”, id `abc`.
  + CI released v2.14.3, see https://ci.example/run/7.
  + CI released 2.14.3 ([log](https://ci.example/run/7)).
  + 1. **Q3 plan**⏎2. **Смета INV-2031**⏎3. v2.14.3
  + ## Your Latest Messages⏎⏎- *Q3 plan*
small numbers, hours and months that nothing shows contradict nothing
  + There are a few more.
  + It takes 2 or 3 steps.
  + Come at 5.
  + See you in May.
  + There was more last week.
a true reply in any form in which people write is not marked
  = {"sheds": [{"name": "North", "keeper": "Ines Vane", "pots": 40, "price": 3.5, "state": "open"},
  = {"name": "Mill", "keeper": "Tove Lind", "pots": 72, "price": 2.25, "state": "open"},
  = {"name": "Quay", "keeper": "Ines Vane", "pots": 18, "price": 4.0, "state": "closed"}]}
  + - **North** - pots: 40
  + - **North** - worth: 140  # its own pots times its own price
  + | Shed | Pots | Worth |⏎|-|-|-|⏎| Mill | 72 | 162 |
  + | Shed | Pots |⏎|-|-|⏎| Total | 130 |
  + In all there are 54 pots more at Mill than at Quay.
  = {"domains": {
  = "kiln.example": {"ends": "2026-11-22", "price": 12, "done_pct": 72, "state": "queued"},
  = "claycourse.app": {"ends": "2026-12-02", "price": 40, "state": "done"},
  = "glaze.example": {"ends": "2026-12-09", "price": 25, "state": "done"}}}
  + claycourse.app ends on 2 December.
  +es kiln.example termina el domingo 22.
  +ru - 22 ноября — 12⏎- 2 декабря — 40
  + kiln.example is 72% done.
  + glaze.example costs 13 more than kiln.example.
  = {"accounts": [{"name": "Cash", "sum": 50}, {"name": "Savings", "sum": 75},
  = {"name": "Car", "sum": 25}], "currency": "EUR"}
  + 50 EUR went from Cash, and 75 EUR from Savings.
  + Cash and Savings differ by 25 EUR.
  + Savings, i.e. the larger one, holds 75 EUR.
  = {"steps": [8214, 10432, 7650], "stages": {"a": 2, "b": 5}}
  + 26,296 steps in three days.
  = {"people": [{"first_name": "Anna", "last_name": "Weber"}]}
  + Anna Weber is in.
  +ru У Анны Вебер был отпуск.
  = {"rows": [{"title": "Course Kiel", "seats": 6, "booked": 1, "cost_per_seat_cents": 9500},
  = {"title": "Course Bonn", "seats": 5, "booked": 3, "cost_per_seat_cents": 9500},
  = {"title": "Course Ulm", "seats": 8, "booked": 8, "cost_per_seat_cents": 9500}]}
  + | Course | Free |⏎|-|-|⏎| Course Kiel | 5 of 6 |
  = {"columns": ["n", "got"], "rows": [[41, 4120], [42, 3655]]}
  + Two episodes brought 7,775 downloads between them.
  = {"entitlement": 30, "remaining": 3.5}
  +de Noch **3,5 Tage** von 30 Tagen.  # two lengths of time, not one
  = {"events": [
  = {"title": "Standup", "start": "2026-11-19T09:00:00Z", "end": "2026-11-19T09:45:00Z"},
  = {"title": "Budget", "start": "2026-11-19T13:30:00Z", "end": "2026-11-19T15:30:00Z"}]}
  + 2 h 45 min in meetings.
  + In all 2.75 hours:⏎- 09:00 – Standup⏎- 13:30 – Budget
  = {"name": "Dan Whitlock", "phone": 441225550199}
  + Call Dan Whitlock on 01225 55 01 99.
  = {"file": "bracket", "progress": 0.64, "left_s": 6483}
  + It is 64% done, with 1:48:03 to go.
  = {"flats": [{"bien": "Studio", "loyer": 495, "charges": 35}, {"bien": "T2", "loyer": 690}]}
  +fr Studio : 530, charges comprises.
  = {"runs": [{"date": "2026-11-16", "route": "Canal", "km": 8.2, "moving_s": 2706, "pulse": 148},
  = {"date": "2026-11-18", "route": "Track", "km": 9.6, "moving_s": 2988, "pulse": 161},
  = {"date": "2026-11-21", "route": "Forest", "km": 18.4, "moving_s": 6440, "pulse": 142}]}
  + The Track session was at about 5:11 per km.  # a pace is no time of day
  +ru Канал вы пробежали за 45:06.
  +de Forest hat 1 h 47 min gedauert.
  +es El miércoles 18 fueron 161 pulsaciones.  # the day, not some 18.4 km
  +de Seit dem 16. sind es zusammen 17,8 km in zwei Tagen.  # a stretch of rows
  = {"items": [{"name": "Hex bolt", "on_hand": 1240, "reserved": 300, "least": 500, "price": 0.12},
  = {"name": "Wing nut", "on_hand": 86, "reserved": 40, "least": 200, "price": 0.31},
  = {"name": "Pane", "on_hand": 15, "reserved": 2, "least": 10, "price": 22.0}]}
  +de Von den Flügelmuttern fehlen 114 bis zum Minimum.
  +fr Les vis Hex bolt valent 148,80 en tout.
  + 940 Hex bolts are free.
  +de Die Spanne zwischen beiden Preisen ist 21,69.
  = {"trips": [{"train": "Ouigo 7846", "dep": "08:20", "arr": "10:27", "changes": 0, "left": 3},
  = {"train": "TER 17752", "dep": "08:42", "arr": "13:46", "changes": 1, "left": 9}]}
  +es El TER tarda 5 h 4 min.
  + From 8:20 to 13:46 it is 5 h 26.  # between any two moments
  +ru Ouigo 7846 идёт 2 часа 7 минут.
  + Three changes nothing: 3 seats on Ouigo 7846, 9 on TER 17752.
what one step makes of the data is not marked
  = {"options": [{"o": "A", "n": 84}, {"o": "B", "n": 156}]}
  + A has 35 %.
  = {"max_price": 200, "flights": []}
  + None under 200. Shall I go up to 300?
  = {"iban": "NL91ABNA0417164300"}
  + It is NL91 ABNA 0417 1643 00.
  = {"sha": "9fce12ab77", "by": "dee"}
  + The last one is 9fce12a by dee.
  = {"off": [{"who": "Lena", "from": "2026-11-16", "to": "2026-11-20"},
  = {"who": "Lena", "from": "2026-11-16", "to": "2026-11-20"}]}
  + 5 days.
  = {"name": "Tower", "built": 1889}
  + It was built in 1889, 137 years ago.
  = {"from": "2026-11-26T11:00:00-05:00", "to": "2026-11-26T11:45:00-05:00"}
  ? tomorrow?
  + You are free from 11:45 until 2 PM.
  = {"price": 420000, "moneda": "COP", "nights": 3}
  + In all $1.260.000 COP.
  = {"distance_m": 6000, "duration_s": 1980}
  + 6 km in 33 minutes, at 5:30/km.
what is offered, denied or asked is not marked
  = {"hours": [{"day": "Mon", "from": "08:00"}]}
  ? Please varnish the door
  + I could not varnish the door.
  + Shall I varnish the door?
  + I'll varnish the door once you confirm.
  + The door can be varnished on request.
  ? Pull the files
  + I pulled the files:⏎- Mon: 08:00
parts of a length and of an amount, and offers, are not doubted
  = {"dauer_min": 72}
  + Das dauert eine Stunde und 12 Minuten.
  = {"status": "failure"}
  + It failed. I can look again in 10 minutes.
  = {"цена": 3640.5}
  + Билет обошёлся в 3640 руб. 50 коп.
a number is no hour and no end of a moment
  = {"notes": [{"title": "wifi", "at": "2026-11-29T09:55:50Z"}]}
  - The code of the wifi is ⟦12345⟧.
  - The code of the wifi is ⟦777⟧.
  - The code of the wifi is ⟦5550⟧.
a number that counts lines is none of the data
  = {"hotels": [{"name": "Cozy Stay", "rating": 4, "price": 80},
  = {"name": "City Hub", "rating": 3, "price": 100},
  = {"name": "Riverside View", "rating": 1, "price": 200}]}
  + 1. Cozy Stay – 80⏎2. City Hub – 100⏎3. Riverside View – 200
  + 1) Cozy Stay – 80⏎2) City Hub – 100⏎3) Riverside View – 200
  + (1) Cozy Stay – 80⏎(2) City Hub – 100⏎(3) Riverside View – 200
  + [1] Cozy Stay – 80⏎[2] City Hub – 100⏎[3] Riverside View – 200
  + 1: Cozy Stay – 80⏎2: City Hub – 100⏎3: Riverside View – 200
  + 1/ Cozy Stay – 80⏎2/ City Hub – 100⏎3/ Riverside View – 200
  + #1 Cozy Stay – 80⏎#2 City Hub – 100⏎#3 Riverside View – 200
  + **1** Cozy Stay – 80⏎**2** City Hub – 100⏎**3** Riverside View – 200
  + 1 Cozy Stay – 80⏎2 City Hub – 100⏎3 Riverside View – 200
an amount is in the currency of the data where that is one
  = {"room": "Lake", "rate": {"betrag": 210, "waehrung": "CHF"}}
  - The Lake room is ⟦210 €⟧, ⟦630 €⟧ for three nights.
  + The Lake room is CHF 210.
  = {"rates": [{"of": "EUR", "buy": 94.1}, {"of": "USD", "buy": 81.3}]}
  + One euro is 94.10 ₽.
  = {"account": "Savings", "moneda": "MXN", "left": 9471.2}
  + You have $9,471.20 left.
  - You have ⟦9,471.20 euros⟧ left.
what the data shows or gives is not marked
  = {"orders": [
  = {"id": "A-10", "title": "Garden lamp", "status": "shipped", "amount": 120.5,
  = "due": "2026-06-10"},
  = {"id": "A-11", "title": "Blue carpet", "status": "open", "amount": 79.5, "due": "2026-06-11"},
  = {"id": "A-12", "title": "Oak table", "status": "open", "amount": 300, "due": "2026-06-12"},
  = {"id": "A-13", "title": "Wall clock", "status": "returned", "amount": 45, "due": "2026-06-13"}],
  = "currency": "EUR", "unread": 8}
  @ 2026-05-15T17:21:04Z
  ? show my orders
  + You have 4 orders, two of them open; together they come to 545 EUR.
  + Garden lamp (A-10) comes to €120.50 and is shipped.
  + The open ones come to 379.50 EUR, an average of 189.75 EUR.
  + Oak table is due on 12 June 2026; that is in 28 days.
  + Half of the orders are open.
  + The most expensive one is 300 EUR, 2.49 times the lamp's 120.50 EUR.
  + You have 8 unread messages.
  + У вас четыре заказа на 545 евро.
  + Die Bestellung A-11 kostet 79,50 €.
what has no source is marked as it stands
  - You have ⟦50⟧ orders.
  - The lamp is ⟦€121.90⟧.
  - Write to ⟦help@shop.example⟧.
  - See ⟦https://shop.example/a⟧.
  - Order ⟦A-99⟧ is open.
  - It is due on ⟦3 August 2026⟧.
  - It comes at ⟦14:35⟧.
  - The “⟦Velvet Sofa XL⟧” is there, too.
  - It was ordered by ⟦John Miller⟧.
  - У вас ⟦50⟧ заказов.
  - Sie haben ⟦50⟧ Bestellungen.
a value of another record is marked with what its own holds
  - Garden lamp comes to ⟦79.50 EUR ≠ amount: 120.5⟧.
  - - Oak table: ⟦45 EUR ≠ amount: 300⟧⏎- Wall clock: 45 EUR
  - Blue carpet is ⟦returned ≠ status: open⟧.
the head of an enumeration says how many follow
  - ⟦Three ≠ 2⟧ orders are there: Garden lamp and Blue carpet.
  - ⟦Three ≠ status open: 2/4⟧ orders are open:⏎⏎- Blue carpet⏎- Oak table⏎
  + Two orders are open: Blue carpet and Oak table.
  + Two of the four are open:⏎⏎- Blue carpet⏎- Oak table⏎
what stands between two quotes of printed German is none
  -de »Garden lamp« (120,50 €) und »Wall clock« (45,00 €), und »⟦Copper kettle⟧« fehlt.
a threshold of the message may be repeated and a quantity may not
  ? which orders are over 100 euros, and do I have 40 of them?
  + Two are over 100 euros.
  - Yes, ⟦40⟧ of them.
a number of rows that are so is held against those that are
  = {"tests": [{"name": "Poppy", "state": "open", "lab": "R. Okafor", "seeds": 120, "grams": 7},
  = {"name": "Yarrow", "state": "open", "lab": "R. Okafor", "seeds": 80, "grams": 9},
  = {"name": "Clover", "state": "closed", "lab": "T. Beck", "seeds": 150, "grams": 12},
  = {"name": "Sorrel", "state": "closed", "lab": "T. Beck", "seeds": 60, "grams": 15}]}
  - ⟦Three ≠ state open: 2/4⟧ tests are open.
  - ⟦One ≠ state closed: 2/4⟧ of the four is closed.
  - ⟦Three ≠ state closed: 2/4⟧ of the four are closed.
  + One closed test is done.
a name behind a title that nothing shows is marked
  - The keys are with Dr. ⟦Quint⟧.
  -de Den Schlüssel hat Frau ⟦Ahrens⟧.
an amount is no years since another
  = {"deals": [{"name": "Hexa", "value": 2000}]}
  - Hexa is worth ⟦$26⟧.
days behind a colon are as many as it says
  = {"runs": [{"day": "2026-05-03", "km": 5}, {"day": "2026-05-04", "km": 7}]}
  - There are ⟦three⟧ runs: 3 May and 4 May.
  -de Es sind ⟦drei⟧ Läufe: 3. Mai und 4. Mai.
a flag of the only record contradicts
  = {"month": "2026-10", "estimated": false, "kwh": 312}
  - The October reading was ⟦estimated ≠ estimated: False⟧.
  + The October reading was not estimated.
a sentence that names nothing speaks of the record before
  = {"hires": [
  = {"ref": "SC-30", "site": "Mill Row", "rate": 185.0, "deposit": 400.0, "tag": "green"},
  = {"ref": "SC-33", "site": "Chapel Yard", "rate": 310.5, "deposit": 600.0, "tag": "red"},
  = {"ref": "SC-21", "site": "Dean Close", "rate": 140.0, "deposit": 250.0, "tag": "blue"}]}
  - Mill Row is SC-30. The rate is ⟦310.50⟧, and the deposit 400.
  + Mill Row is SC-30. The rate is 185, and the deposit 400.
  + Mill Row pays 185. Chapel Yard has the highest rate, 310.50.
  + Mill Row pays 185, the highest rate is 310.50.
  + Mill Row pays 185.⏎The deposit of 600 is another's.
only a code of a form that the data has is doubted
  - Next comes ⟦SC-99⟧.
  + Next comes 4x100.
  + Next comes RJ45.
a record that two lists name is held against the list of the value
  = {"players": [{"name": "Anna Schulz", "rating": 2176},
  = {"name": "Timur Galeev", "rating": 2105}], "pairings": [{"board": 1, "white": "Timur Galeev"},
  = {"board": 2, "white": "Anna Schulz"}]}
  - Anna Schulz has ⟦2105 ≠ rating: 2176⟧.
  + Anna Schulz has 2176.
a column of a table shows the same field of each record
  = {"results": [{"code": "CREA", "value": 2.7, "share": 31, "at": "08:10"},
  = {"code": "GLUC", "value": 118.0, "share": 44, "at": "09:20"},
  = {"code": "THYR", "value": null, "share": 57, "at": "09:40"},
  = {"code": "POTA", "value": 3.6, "share": 62, "at": "10:50"}]}
  + | | | |⏎|-|-|-|⏎| CREA | 2.7 | 31 % |⏎| POTA | 3.6 | 62 % |⏎| GLUC | 118 | 44 % |
  - | | | |⏎|-|-|-|⏎| CREA | 2.7 | 31 % |⏎| POTA | 3.6 | 62 % |⏎| GLUC | 118 | ⟦48 % ≠ share: 44⟧ |
  - | | | |⏎|-|-|-|⏎| CREA | 2.7 | 31 % |⏎| POTA | 3.6 | 62 % |⏎| THYR | ⟦4⟧ | 57 % |
  + | | | |⏎|-|-|-|⏎| CREA | 2.7 | 31 % |⏎| POTA | 3.6 | 62 % |⏎| THYR | - | 57 % |
an id that looks like a year or an amount names its record
  = {"wheels": [{"no": "2026-0311", "stars": 4}, {"no": "2026-0312", "stars": 5}]}
  - **2026-0311** has ⟦5⟧ stars.
  + **2026-0311** has 4 stars.
a day of the week is that of the date beside it
  = {"tours": [{"name": "Harbour walk", "on": "2026-11-25", "places": 14,
  = "code": "OPEN_TO_2026-11-24"}]}
  + Harbour walk is on Wednesday, 25 November.
  - Harbour walk is on ⟦Tuesday ≠ 2026-11-25⟧, 25 November.
  -de Harbour walk ist am ⟦Dienstag ≠ 2026-11-25⟧, 25. November.
  -es Harbour walk es el ⟦lunes ≠ 2026-11-25⟧ 25 de noviembre.
and a date in a code is one
  + Harbour walk is open until 24 November.
  - Harbour walk is open until ⟦23 November⟧.
an item that names no record is of the one above its list
  = {"vans": [{"van": "Van 7", "driver": "Ida Holm", "odometer_km": 51905, "fuel": 0.8},
  = {"van": "Van 9", "driver": "Per Lund", "odometer_km": 84310, "fuel": 0.3}]}
  + **Van 7**⏎- Driver: Ida Holm⏎- Mileage: 51,905 km⏎- Tank: 80 %
  - **Van 7**⏎- Driver: Ida Holm⏎- Mileage: ⟦84,310 ≠ odometer_km: 51905⟧ km⏎- Tank: 80 %
a number says how many items stand below it, or behind a colon
  = {"jobs": [{"id": "LF-31", "street": "Elm Row", "by": "Ida"},
  = {"id": "LF-34", "street": "Bay 8", "by": "Ida"},
  = {"id": "LF-37", "street": "Kirk Wynd", "by": "Per"},
  = {"id": "LF-39", "street": "Quay 2", "by": "Per"}]}
  + Two jobs are open:⏎⏎- LF-31, Elm Row⏎- LF-34, Bay 8
  - ⟦Three⟧ jobs are open:⏎⏎- LF-31, Elm Row⏎- LF-34, Bay 8
  - Of the four jobs, ⟦two⟧ are open:⏎- LF-31, Elm Row⏎- LF-34, Bay 8⏎- LF-37, Kirk Wynd
  - Ida has ⟦three⟧: LF-31 on Elm Row and LF-34 on Bay 8.
  - ⟦Two⟧ are late: LF-31, LF-34, and LF-37.
the items of a list tell the same field
  = {"services": [{"name": "auth", "up": 0.9998}, {"name": "mail", "up": 0.9871},
  = {"name": "shop", "up": 0.9993}]}
  + - auth 99.98 %⏎- shop 99.93 %⏎- mail 98.71 %
  - - auth 99.98 %⏎- shop 99.93 %⏎- mail ⟦98.17 % ≠ up: 0.9871⟧
sums and averages of the first and the last so many rows, and of the lowest and the highest
  = {"days": [{"day": "a", "kwh": 3.4}, {"day": "b", "kwh": 9.7}, {"day": "c", "kwh": 4.9},
  = {"day": "d", "kwh": 7.3}, {"day": "e", "kwh": 2.6}, {"day": "f", "kwh": 8.8}]}
  + The first three days brought 18.0 kWh, the last three 18.7 kWh.
  - The first three days brought ⟦19.3⟧ kWh.
the time between two moments of a record, and some time after one
  = {"trains": [{"train": "IR 36", "planned": 1795423680, "delay_s": 300, "to": "Chur"},
  = {"train": "S 3", "planned": 1795423980, "delay_s": 0, "to": "Olten"}],
  = "outage": {"opened": "2026-11-11T21:20:00Z", "resolved": "2026-11-11T23:35:00Z"}}
  + The outage took 135 minutes.
  - The outage took ⟦153⟧ minutes.
  + IR 36 was to leave at 8:48 and will at 8:53.
  - IR 36 was to leave at 8:48 and will at ⟦8:59⟧.
what an amount is before a rate
  = {"currency": "USD", "costs": [
  = {"item": "Compute", "gross": "4218.60", "prev_month": "3902.10", "vat_rate": 0.2},
  = {"item": "Storage", "gross": "611.40", "prev_month": "598.80", "vat_rate": 0.2}]}
  + Compute costs $4,218.60, $3,515.50 before tax.
  - Compute costs $4,218.60, ⟦$3,551.50⟧ before tax.
what names no currency, no label and no day
  = {"lifts": [{"lift": "Roc", "top_m": 2310, "temp_c": 22, "on": "2026-11-24", "ride": "62.50"},
  = {"lift": "Pic", "top_m": 2260, "temp_c": 19, "on": "2026-11-21", "ride": "118.00"},
  = {"lift": "Dent", "top_m": 1450, "temp_c": 14, "on": "2026-11-20", "ride": "70.00"}]}
  + A ride up Roc costs €62.50.
  - A ride up Roc costs ⟦118.00 ≠ ride: 62.50⟧.
  - On 24 November it was ⟦24⟧ °C on Roc.
  - The lifts cost ⟦€9,471⟧.
what items tell adds up to the number above them
  = {"kurse": [{"kurs": "Bronze", "frei": 7, "preis_cents": 8900, "bad": "Nord", "tag": "THU"},
  = {"kurs": "Silber", "frei": 2, "preis_cents": 9900, "bad": "Nord", "tag": "FRI"},
  = {"kurs": "Aqua", "frei": 3, "preis_cents": 7200, "bad": "Ost", "tag": "MON"}]}
  +de Ja, insgesamt zwölf:⏎- **Bronze**: 7 Plätze⏎- **Silber**: 2 Plätze⏎- **Aqua**: 3 Plätze
  +de Bronze kostet 89 €.
sums are told in other units, and lengths of time in parts
  = {"tanks": [{"tank": "G1", "vol_hl": 24, "units": 19, "min": 40},
  = {"tank": "G2", "vol_hl": 18, "units": 45, "min": 30}],
  = "jobs": [{"job": "nightly", "rc": 3, "took_s": 95}, {"job": "weekly", "rc": 0, "took_s": 11400}]}
  + The tanks hold 4,200 litres.
  - The tanks hold ⟦4,900⟧ litres.
  + G1 lacks 21 units.
  - G1 lacks ⟦29⟧ units.
  + nightly took 95 seconds, weekly 3 h 10 min.
amounts told as texts under any key are amounts
  = {"divisa": "EUR", "movs": [{"f": "2026-11-11", "de": "Luz", "imp": "-86.32"},
  = {"f": "2026-11-10", "de": "Nómina", "imp": "1940.00"},
  = {"f": "2026-11-09", "de": "Agua", "imp": "-74.18"}], "saldo": "2318.47"}
  +es Has gastado 160,50 €.
  -es Has gastado ⟦165,50 €⟧.
a time is told in the zone of a city
  = {"calls": [{"title": "Acme", "at": "2026-11-16T07:00:00Z"},
  = {"title": "Review", "at": "2026-11-16T15:00:00Z"}]}
  + Acme is at 7:00, which is 4:00 pm in Tokyo.
  - Acme is at ⟦3:00 pm ≠ at: 2026-11-16T07:00:00Z⟧.
a vulgar fraction is part of its number, and averages are told in tens
  = {"shows": [{"show": "A", "seats": 5120, "hours": 7.25}, {"show": "B", "seats": 6480, "hours": 1.5},
  = {"show": "C", "seats": 3900, "hours": 2}], "round": 4}
  + A took 7¼ hours, B 1½.
  + On average 5,170 seats were taken.
  - On average ⟦5,710⟧ seats were taken.
  + After 4 rounds:⏎- A 5,120⏎- B 6,480⏎- C 3,900
numbers of one kind beside each other, in a record or a list, add up
  = {"units": {"0+": 461, "0-": 73, "A+": 398, "B-": 47}, "min": {"0-": 100, "B-": 40},
  = "sold": [369, 287, 98], "revenue_eur": ["9594.00", "7462.00", "2548.00"]}
  + There are 979 units, 461 of them 0+.
  - There are ⟦997⟧ units, 461 of them 0+.
  + All shows together took in €19,604.
  - All shows together took in ⟦€19,640⟧.
what a label was told of has its field, and no other has
  = {"tx": [{"who": "Kahl", "amt": -890.0, "cat": "rent"}, {"who": "Linde AG", "amt": 2615.4},
  = {"who": "Weil", "amt": -120.0}], "wards": [{"ward": "4C", "beds": 18, "taken": 9}],
  = "fires": [{"no": "E-303", "alarm": "2026-11-21T11:05:00+01:00",
  = "arrived": "2026-11-21T11:17:30+01:00", "crew": 12},
  = {"no": "E-304", "alarm": "2026-11-29T20:30:00+01:00", "arrived": "2026-11-29T20:42:00+01:00",
  = "crew": 15}]}
  + Income: 2,615.40 € from Linde AG, and 890 € went to the landlord.
  + 4C has 9/18 taken.
  + E-304 came at 20:30, the crew at 20:42, after 12 minutes.
a gain is what a price less another comes to, so many times; an age is what a year is ago
  = {"currency": "EUR", "positions": [{"name": "Novex", "qty": 40, "price": "52.10", "cost": "47.50"},
  = {"name": "Helmstad", "qty": 15, "price": "128.40", "cost": "140.00"}],
  = "people": [{"name": "Johanna", "born": "1984-03-25", "role": "Senior agent"},
  = {"name": "Bilal", "born": "1991-11-02", "role": "Agent"}]}
  + Novex is €184 up, Helmstad €174 down.
  - Novex is ⟦€194⟧ up, Helmstad €174 down.
  + Johanna, an agent, turned 42.
two values of one field behind two labels are theirs, whichever
  = {"bills": [{"to": "Nordwind", "eur": 4312.75, "due": "2026-11-26"},
  = {"to": "Olmedo", "eur": 989.9, "due": "2026-12-02"}, {"to": "Brandt", "due": "2026-11-04"}]}
  + Nordwind (€4,312.75) and Olmedo (€989.90) have time until 26 November and 2 December.
a price for an hour is no time
  = {"garages": [{"name": "Bourse", "eur_h": "5.00", "until": "22:00"},
  = {"name": "Mazarine", "eur_h": "3.80", "until": "23:00"}]}
  +fr Bourse est à 5,00 €/h, Mazarine à 3,80 €/h.
  -fr Bourse est à ⟦5,60 €⟧/h.
what is for four is told for six
  = {"servings": 4, "kcal": 420, "items": [{"name": "flour", "qty": 330, "unit": "g"},
  = {"name": "onion", "qty": 2}, {"name": "garlic", "qty": 3}, {"name": "butter", "qty": 82}]}
  ? How much do I need for six people?
  + - 495 g flour⏎- 3 onion⏎- 123 butter
  - - ⟦459⟧ g flour⏎- 3 onion⏎- 123 butter
"""
"""A sentence, and under it, by their first sign: `=` results in JSON; `@` the moment, where it is
not `NOW`; `?` the user's message; `+` a reply that stands; `-` one that falls, maybe with marks in
it, ⟦the word ≠ what its record holds⟧. Results, moment and message are those of the next sentences
too, until others begin. The reply's language stands at its sign; `⏎` ends a line of it."""
MARK = re.compile(r"⟦(.+?)(?: ≠ (.+?))?⟧")


def cases() -> Iterator[Any]:
    """Evidence, the reply with its marks, whether it stands."""
    sentence = given = before = ""
    for line in RULES.strip().splitlines():
        sign, _, text = line.partition("  # ")[0].strip().partition(" ")
        if not line.startswith(" "):
            sentence = line
        elif sign == "=":
            given = given + text if before == "=" else text
            message, now = "?", NOW
        elif sign == "?":
            message = text
        elif sign == "@":
            now = text
        else:
            of = Evidence(calls(given), message, language=sign[1:] or "en", now=now)
            told = text.replace("⏎", "\n")
            yield pytest.param(of, told, sign[0] == "+", id=f"{sentence}: {text}")
        before = sign


def calls(given: str) -> tuple[Call, ...]:
    results = enumerate(json.loads(f"[{given}]"))
    return tuple(Call("app", f"get_{number}", data=data) for number, data in results)


@pytest.mark.parametrize(("of", "told", "stands"), [*cases()])
def test_a_reply_stands_where_its_data_give_it(of: Evidence, told: str, stands: bool) -> None:
    verdict = check(MARK.sub(r"\1", told), evidence=of)
    assert verdict.grounded is stands
    for mark, (word, holds) in zip(verdict.marks, MARK.findall(told), strict="⟦" in told):
        assert (mark.word, holds or mark.holds) == (word, mark.holds)

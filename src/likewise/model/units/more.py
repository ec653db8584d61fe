"""All other units: prefixes by rule, and what QUDT lists, with UCUM's and UN/CEFACT's codes.

Written by tools/make_unit_table.py; do not edit. Names, symbols and codes are facts of QUDT's vocabulary of units,
Release 3.2.1 (https://qudt.org, CC BY 4.0); factors are pint's where pint has the unit, else QUDT's.

A line: symbol, dimension, factor to the dimension's base, spellings, and codes that count beside a value only. A
line without dimension and factor adds spellings to an everyday unit.
"""

# fmt: off
LINES = r'''
degC				DEG_C;CEL;Cel;degree celsius
degF				DEG_F;FAH;[degF];degree fahrenheit
K			DEG_C_GROWING_CEREAL;degree celsius growing cereal	KEL;kelvin
degR				DEG_R;A48;[degR];degree rankine
delta_degC				K;kelvin;kelvins
m			metre;meter;metres;meters;m2/m;m2.m-1;square metre per metre;m/rad;m.rad-1;metre per radian;m3/m2;m3.m-2;cubic metre per square metre;N-M-PER-W0dot5;N.m/√W;newton metre per square root watt	M;MTR;M2-PER-M;M-PER-RAD;M55;M3-PER-M2;H60;H41
km			kilometre;kilometer;kilometres;kilometers	KiloM;KMT;KTM
cm			centimetre;centimeter;centimetres;centimeters	CentiM;CMT
mm			millimetre;millimeter;millimetres;millimeters	MilliM;MMT
um			micrometre;micrometer;micrometres;micrometers	MicroM;4H
inch			[in_i];ZOLL	IN;in;INH;“
ft			[ft_i];foot	FT;FOT
yd			[yd_i];yard	YD;YRD
mi			[mi_i];international mile;imperial mile	MI;SMI;MI_UK
m/s			Hz.m;hertz metre;m.s-1;metre per second;W-PER-M2-PA;W/(m2.Pa);W.m-2.Pa-1;watt per square metre pascal;M3-PER-SEC-M2;m3/(s.m2);m3.s-1.m-2;cubic metre per second square metre	HZ-M;H34;M-PER-SEC;MTS;P87
mm/s			L-PER-SEC-M2;L/(s.m2);L.s-1.m-2;litre per second square metre;mm.s-1;millimetre per second	MilliM-PER-SEC;C16
km/h			kph;km.h-1;kilometre per hour	KiloM-PER-HR;KMH
mph			mi/h;[mi_i].h-1;international mile per hour	MI-PER-HR;HM
kn			[kn_i];knot	kt;KN;KNT
ft/s			[ft_i].s-1;foot per second	FT-PER-SEC;FS
mm/h			mm.h-1;millimetre per hour	MilliM-PER-HR;H67
us			microsecond;microseconds;P/bar;P.bar-1;poise per bar;uH/ohm;uH.Ohm-1;microhenry per ohm;mH/kohm;mH.kOhm-1;millihenry per kiloohm	MicroSEC;B98;POISE-PER-BAR;F06;MicroH-PER-OHM;G99;MilliH-PER-KiloOHM;H05
s			second;seconds;H/ohm;H.Ohm-1;henry per ohm;SEC-PER-NUM;s/#;s.{#}-1;second per number;KiloGM-PER-PA-SEC-M;kg/(Pa.s.m);kg.Pa-1.s-1.m-1;kilogram per pascal second metre	SEC;H-PER-OHM;H04
ms			millisecond;milliseconds;H/kohm;H.kOhm-1;henry per kiloohm;mH/ohm;mH.Ohm-1;millihenry per ohm	MilliSEC;C26;H-PER-KiloOHM;H03;MilliH-PER-OHM;H06
min			minute;MIN-PER-NUM;min/#;min.{#}-1;minute per number	MIN
h			hour;HR-PER-NUM;h/#;h.{#}-1;hour per number	HR;HUR
d			day;DAY-PER-NUM;d/#;d.{#}-1;day per number	DAY
wk			week;WK-PER-NUM;wk/#;wk.{#}-1;week per number	WK;WEE
kg			kilogram;kilogramme;kilograms;kilogrammes;millitonne;millitonnes	mt;KiloGM;KGM
g			gram;gramme;grams;grammes;microtonne;microtonnes;GM_DRY;dry gram;GM_Carbon;gram of carbon;GM_Nitrogen;gram of nitrogen	ut;GM;GRM
mg			milligram;milligramme;milligrams;milligrammes;nanotonne;nanotonnes	nt;MilliGM;MGM
t			megagram;megagramme;megagrams;megagrammes;tonne;tonnes;MegaGM;metric ton	Mg;TONNE;TNE;2U;TON_Metric
lb			lbm;[lb_av];pound mass	LB;LBR;LB_M
oz			[oz_av];ounce mass	OZ;ONZ;OZ_M
Pa			pascal;pascals;N/m2;N.m-2;newton per square metre;KiloGM-PER-M-SEC2;kg/(m.s2);kg.m-1.s-2;kilogram per metre square second	PA;PAL;N-PER-M2;C55
hPa			hectopascal;hectopascals;MilliBAR_A;mbar abs;milli bar absolute	HectoPA;A97
kPa			kilopascal;kilopascals;centibar;centibars;cbar;KPaA;kPa{absolute};kilopascal absolute;kN/m2;kN.m-2;kilonewton per square metre	KiloPA;KPA;CentiBAR;KiloPA_A;KiloN-PER-M2
MPa			megapascal;megapascals;decabar;decabars;MN/m2;MN.m-2;meganewton per square metre;N/mm2;N.mm-2;newton per square millimetre	dabar;MegaPA;MPA;MegaN-PER-M2;N-PER-MilliM2;C56
bar			bars;BAR_A;bar abs;bar absolute	BAR
mbar			millibar;millibars	MilliBAR;MBR
psi			[psi];lbf/in2;[lbf_av].[in_i]-2;pound force per square inch	PSI;PS;LB_F-PER-IN2
mmHg			mm_Hg;mm_hg;mmhg;mm[Hg];millimetre of mercury;mmHgA;mm[Hg]{absolute};millimetre of mercury - absolute	MilliM_HG;HN;MilliM_HGA
atm			standard atmosphere	ATM
J			joule;joules;W.s;watt second;N.m/rad;N.m.rad-1;newton metre per radian	JOU;W-SEC;J55;N-M-PER-RAD;M93
kJ			kilojoule;kilojoules	KiloJ;KJO
MJ			megajoule;megajoules	MegaJ;3B
GJ			gigajoule;gigajoules	GigaJ;GV
Wh			watt hour;watthour;watt hours;watthours;W.h;VA.h;volt ampere hour	W-HR;WHR;VA-HR
kWh			kilowatt hour;kilowatthour;kilowatt hours;kilowatthours;kW.h;kVA.h;kilo volt ampere hour	KiloW-HR;KWH;KiloVA-HR;C79
MWh			megawatt hour;megawatthour;megawatt hours;megawatthours;MW.h;MVA.h;mega volt ampere hour	MegaW-HR;MWH;MegaVA-HR
cal			calorie;calories;cal_th;thermochemical calorie	CAL_TH;D35
kcal			kilocalorie;kilocalories;kcal_th;kilo thermochemical calorie	KiloCAL;K53;KiloCAL_TH
BTU			BTU_IT;Btu{IT};[Btu_IT];british thermal unit (international definition)	
W			watt;watts;J/s;J.s-1;joule per second;Pa.m3/s;Pa.m3.s-1;pascal cubic metre per second	WTT;J-PER-SEC;P14;PA-M3-PER-SEC;G01
kW			kilowatt;kilowatts;kJ/s;kJ.s-1;kilojoule per second;MPa.L/s;MPa.L.s-1;megapascal litre per second	KiloW;KWT;KiloJ-PER-SEC;P18;MegaPA-L-PER-SEC;F97
MW			megawatt;megawatts;MJ/s;MJ.s-1;megajoule per second;MPa.m3/s;MPa.m3.s-1;megapascal cubic metre per second	MegaW;MAW;MegaJ-PER-SEC;D78;MegaPA-M3-PER-SEC;F98
mW			milliwatt;milliwatts;Pa.L/s;Pa.L.s-1;pascal litre per second;mJ/s;mJ.s-1;millijoule per second	MilliW;C31;PA-L-PER-SEC;F99;MilliJ-PER-SEC
hp			[HP];horsepower	HP;K43
VA			voltampere;volt ampere;voltamperes;volt amperes	D46
kVA			kilovoltampere;kilovolt ampere;kilovoltamperes;kilovolt amperes;kilo volt ampere	KiloVA;KVA
var			vars;volt ampere reactive	VAR;D44
kvar			kilovar;kilovars;kilo volt ampere reactive	KiloVAR;KVR
varh			varhs;var.h;volt ampere reactive hour	VAR-HR
kvarh			kilovarh;kilovarhs;kvar.h;kilo volt ampere reactive hour	KiloVAR-HR;K3
V			volt;volts	VLT
mV			millivolt;millivolts	MilliV;2Z
kV			kilovolt;kilovolts	KiloV;KVT
uV			microvolt;microvolts	MicroV;D82
A			ampere;amp;amperes;amps;ampere turn;A/rad;A.rad-1;ampere per radian	AMP;AT;A-PER-RAD
mA			milliampere;milliamp;milliamperes;milliamps	MilliA;4K
uA			microampere;microamp;microamperes;microamps	MicroA;B84
Ah			ampere hour;amp hour;ampere hours;amp hours;A.h	A-HR;AMH
mAh			milliampere hour;milliamp hour;milliampere hours;milliamp hours;mA.h	MilliA-HR;E09
Hz			hertz;PER-SEC;s-1;reciprocal second;PER-SEC-SR;/(s.sr);s-1.sr-1;reciprocal second steradian;cycle/s;c.p.s;cycles/s;cycle per second;nat/s;nat per second;NUM-PER-SEC;#/s;{#}.s-1;number per second;sample/s;sample per second	HZ;HTZ;/s;C97;D1;CYC-PER-SEC;NAT-PER-SEC;Q19;SAMPLE-PER-SEC
kHz			kilohertz;PER-MilliSEC;/ms;ms-1;reciprocal millisecond	KiloHZ;KHZ
MHz			megahertz	MegaHZ;MHZ
GHz			gigahertz	GigaHZ;A86
rpm			rev/min;RPM;r/min;revolution per minute	{#}.min-1;REV-PER-MIN;M46
%			percent;%RH;percent relative humidity;g/hg;g.hg-1;gram per hectogram;kPa/bar;kPa.bar-1;kilopascal per bar	PERCENT;P1;PERCENT_RH;GM-PER-HectoGM;KiloPA-PER-BAR;F03
ppm			PPM;[ppm];parts per million;ppmv;uL/L;uL.L-1;microlitre per litre;um/m;um.m-1;micrometre per metre;mL/m3;mL.m-3;millilitre per cubic metre;cm3/m3;cm3.m-3;cubic centimetre per cubic metre;ug/g;ug.g-1;microgram per gram;umol/mol;umol.mol-1;micromole per mole;mg/kg;mg.kg-1;milligram per kilogram;ng/mg;ng.mg-1;nanogram per milligram	59;MicroL-PER-L;J36;MicroM-PER-M;MilliL-PER-M3;H65;CentiM3-PER-M3;J87;MicroGM-PER-GM;MicroMOL-PER-MOL;MilliGM-PER-KiloGM;NA;NanoGM-PER-MilliGM
ppb			PPB;[ppb];parts per billion;mm3/m3;mm3.m-3;cubic millimetre per cubic metre;ug/kg;ug.kg-1;microgram per kilogram;pg/mg;pg.mg-1;picogram per milligram	61;MilliM3-PER-M3;L21;MicroGM-PER-KiloGM;J33;PicoGM-PER-MilliGM
permille			PPTH;[ppth];parts per thousand;mK/K;mK.K-1;millikelvin per kelvin;mL/L;mL.L-1;millilitre per litre;mm/m;mm.m-1;millimetre per metre;mV/V;mV.V-1;millivolt per volt;dm3/m3;dm3.m-3;cubic decimetre per cubic metre;g/kg;g.kg-1;gram per kilogram;mg/g;mg.g-1;milligram per gram;hPa/bar;hPa.bar-1;hectopascal per bar;mbar/bar;mbar.bar-1;millibar per bar;mmol/mol;mmol.mol-1;millimole per mole;ug/mg;ug.mg-1;microgram per milligram;nmol/umol;nmol.umol-1;nanomole per micromole	‰;NX;PERMILLE;J13;MilliK-PER-K;MilliL-PER-L;L19;MilliM-PER-M;MilliV-PER-V;DeciM3-PER-M3;J91;GM-PER-KiloGM;GK;MilliGM-PER-GM;H64;HectoPA-PER-BAR;E99;MilliBAR-PER-BAR;F04;MilliMOL-PER-MOL;MicroGM-PER-MilliGM;NanoMOL-PER-MicroMOL
ug/m3			microgram per cubic metre;microgram per cubic meter;ng/l;nanogram per litre;nanogram per liter;ng/L;ng.L-1;pmol/L;pmol.L-1;picomole per litre;ug.m-3;pg/mL;pg.mL-1;picogram per millilitre	NanoGM-PER-L;PicoMOL-PER-L;MicroGM-PER-M3;GQ;PicoGM-PER-MilliL
mg/m3			milligram per cubic metre;milligram per cubic meter;ug/l;microgram per litre;microgram per liter;ug/L;ug.L-1;nmol/L;nmol.L-1;nanomole per litre;mg.m-3;ng/mL;ng.mL-1;nanogram per millilitre	MicroGM-PER-L;H29;NanoMOL-PER-L;MilliGM-PER-M3;GP;NanoGM-PER-MilliL
g/m3			gram per cubic metre;gram per cubic meter;g.m-3;umol/L;umol.L-1;micromole per litre;mmol/m3;mmol.m-3;millimole per cubic metre;ng/uL;ng.uL-1;nanogram per microlitre;ug/mL;ug.mL-1;microgram per millilitre	GM-PER-M3;A93;MicroMOL-PER-L;MilliMOL-PER-M3;NanoGM-PER-MicroL;MicroGM-PER-MilliL
mg/l			milligram per litre;milligram per liter;mg/L;mg.L-1	MilliGM-PER-L;M1
g/l			kg/m3;kilogram per cubic metre;kilogram per cubic meter;gram per litre;gram per liter;g/L;g.L-1;mol/m3;mol.m-3;mole per cubic metre;g/dm3;g.dm-3;gram per cubic decimetre;kg.m-3;mmol/L;mmol.L-1;millimole per litre;mg/mL;mg.mL-1;milligram per millilitre	GM-PER-L;GL;MOL-PER-M3;C36;GM-PER-DeciM3;F23;KiloGM-PER-M3;KMQ;mM;MilliMOL-PER-L;M33;MilliGM-PER-MilliL
l			litre;liter;litres;liters;dm3;cubic decimetre	L;LTR;DeciM3;DMQ
ml			millilitre;milliliter;millilitres;milliliters;CentiM3;cm3;cubic centimetre	mL;MilliL;MLT;cc;CMQ
m3			kilolitre;kiloliter;kilolitres;kiloliters;cubic metre;STR;stere;KiloL	kl;M3;MTQ;st;G26;kL;K6
ft3			[ft_i]3;cubic foot	FT3;FTQ
gal			GAL_US;gal{US};[gal_us];us gallon	GLL
l/s			L/s;L.s-1;litre per second;dm3/s;dm3.s-1;cubic decimetre per second	L-PER-SEC;G51;DeciM3-PER-SEC;J93
l/min			L/min;L.min-1;litre per minute;dm3/min;dm3.min-1;cubic decimetre per minute	L-PER-MIN;L2;DeciM3-PER-MIN;J92
l/h			L/h;L.h-1;litre per hour;dm3/h;dm3.h-1;cubic decimetre per hour	L-PER-HR;E32;DeciM3-PER-HR;E92
m3/h			m3.h-1;cubic metre per hour;kL/h;kL.h-1;kilolitre per hour	M3-PER-HR;MQH;KiloL-PER-HR;4X
m3/s			m3.s-1;cubic metre per second	M3-PER-SEC;MQS
m3/min			m3.min-1;cubic metre per minute	M3-PER-MIN;G53
gpm			GAL_US-PER-MIN;gal{US}/min;[gal_us].min-1;us gallon per minute	G2
m2			square metre;m2.sr;square metre steradian;m2/sr;m2.sr-1;square metre per steradian	M2;MTK;M2-SR;M2-PER-SR;D24
km2			square kilometre	KiloM2;KMK
ha			har;hectare	HA;HAR
deg			DEG;degree	°;DD
rad			radian	RAD;C81
lx			lux	LUX
W/m2			watt per square metre;watt per square meter;W.m-2;m.Pa/s;m.Pa.s-1;metre pascal per second;Pa.m/s;Pa.m.s-1;pascal metre per second	W-PER-M2;D54;M-PA-PER-SEC;PA-M-PER-SEC
umol/m2/s			MicroMOL-PER-M2-SEC;umol/(m2.s);umol.m-2.s-1;micromole per square metre second	
m/s2			m.s-2;metre per square second;N/kg;N.kg-1;newton per kilogram;Pa.m2/kg;Pa.m2.kg-1;pascal square metre per kilogram	M-PER-SEC2;MSK;N-PER-KiloGM;PA-M2-PER-KiloGM;P79
mgn			MilliG;m[g];milligravity	mG
gn			[g];gravity;lbf/lbm;[lbf_av].[lb_av]-1;pound force per pound mass	G;K40;LB_F-PER-LB
N			newton;newtons;J/m;J.m-1;joule per metre;N.m/m;N.m.m-1;newton metre per metre;N/rad;N.rad-1;newton per radian;N-M-PER-M-RAD;N.m/(m.rad);N.m.m-1.rad-1;newton metre per metre radian;kg.m/s2;kg.m.s-2;kilogram metre per square second	NEW;J-PER-M;B12;N-M-PER-M;Q27;N-PER-RAD;KiloGM-M-PER-SEC2;M77
kN			kilonewton;kilonewtons;kN.m/m;kN.m.m-1;kilonewton metre per metre	KiloN;B47;KiloN-M-PER-M
ohm			ohms;Ohm	OHM
kohm			kiloohm;kiloohms;kOhm	KiloOHM;B49
Mohm			megaohm;megaohms;MOhm	MegaOHM;B75
uF			microfarad;microfarads	MicroFARAD;4O
nF			nanofarad;nanofarads	NanoFARAD;C41
pF			picofarad;picofarads	PicoFARAD;4T
uS/cm			microsiemens per centimetre;microsiemens per centimeter;uS.cm-1	MicroS-PER-CentiM;G42
mS/cm			decisiemens per metre;decisiemens per meter;millisiemens per centimetre;millisiemens per centimeter;mS.cm-1	dS/m;MilliS-PER-CentiM;H61
dS/m			dS.m-1	decisiemens per metre;DeciS-PER-M
S/m			siemens per metre;siemens per meter;centisiemens per centimetre;centisiemens per centimeter;S.m-1	cS/cm;S-PER-M;D10
uT			microtesla;microteslas	MicroT;D81
mT			millitesla;milliteslas	MilliT;C29
bit			bits;BIT;SHANNON;shannon	b;J63;Sh;Q14
B			byte;bytes;OCTET;octet	By;BYTE;AD;o;Q12
kB			kilobyte;kilobytes;kBy	KiloBYTE;2P
MB			megabyte;megabytes;MBy	MegaBYTE;4L
GB			gigabyte;gigabytes;GBy	GigaBYTE;E34
kbit/s			kilobit per second;kb/s;kbit.s-1	KiloBIT-PER-SEC;C74
Mbit/s			megabit per second;Mb/s;Mbit.s-1	MegaBIT-PER-SEC;E20
Bq/m3			mBq/l;Bq.m-3;becquerel per cubic metre;PER-M3-SEC;/(m3.s);m-3.s-1;reciprocal cubic metre second;PER-SEC-M3;/(s.m3);s-1.m-3;reciprocal second cubic metre;mBq/L;mBq.L-1;millibecquerel per litre	BQ-PER-M3;A19;C87;C98;MilliBQ-PER-L
uSv/h			microsievert per hour	
quectometre	length	1/1000000000000000000000000000000	quectometer;quectometres;quectometers	qm
rontometre	length	1/1000000000000000000000000000	rontometer;rontometres;rontometers	rm
yoctometre	length	1/1000000000000000000000000	yoctometer;yoctometres;yoctometers	ym
zeptometre	length	1/1000000000000000000000	zeptometer;zeptometres;zeptometers	zm
attometre	length	1/1000000000000000000	attometer;attometres;attometers	am
femtometre	length	1/1000000000000000	femtometer;femtometres;femtometers;fermi;FemtoM	fm;FM;A71
picometre	length	1/1000000000000	picometer;picometres;picometers;PicoM	pm;C52
nm	length	1/1000000000	nanometre;nanometer;nanometres;nanometers	NanoM;C45
decimetre	length	1/10	decimeter;decimetres;decimeters;DeciM	dm;DMT
decametre	length	10	decameter;decametres;decameters;dam	DecaM;A45
hectometre	length	100	hectometer;hectometres;hectometers;HectoM	hm;HMT
Mm	length	1000000	megametre;megameter;megametres;megameters	
Gm	length	1000000000	gigametre;gigameter;gigametres;gigameters	
Tm	length	1000000000000	terametre;terameter;terametres;terameters	
petametre	length	1000000000000000	petameter;petametres;petameters	Pm
exametre	length	1000000000000000000	exameter;exametres;exameters	Em
zettametre	length	1000000000000000000000	zettameter;zettametres;zettameters	Zm
yottametre	length	1000000000000000000000000	yottameter;yottametres;yottameters	Ym
ronnametre	length	1000000000000000000000000000	ronnameter;ronnametres;ronnameters	Rm
quettametre	length	1000000000000000000000000000000	quettameter;quettametres;quettameters	Qm
quectogram	mass	1/1000000000000000000000000000000000	quectogramme;quectograms;quectogrammes	qg
rontogram	mass	1/1000000000000000000000000000000	rontogramme;rontograms;rontogrammes	rg
yoctogram	mass	1/1000000000000000000000000000	yoctogramme;yoctograms;yoctogrammes;quectotonne;quectotonnes	yg;qt
zeptogram	mass	1/1000000000000000000000000	zeptogramme;zeptograms;zeptogrammes;rontotonne;rontotonnes	zg;rt
attogram	mass	1/1000000000000000000000	attogramme;attograms;attogrammes;yoctotonne;yoctotonnes	ag;yt
femtogram	mass	1/1000000000000000000	femtogramme;femtograms;femtogrammes;zeptotonne;zeptotonnes;FemtoGM	fg;zt
pg	mass	1/1000000000000000	picogram;picogramme;picograms;picogrammes;attotonne;attotonnes	at;PicoGM
ng	mass	1/1000000000000	nanogram;nanogramme;nanograms;nanogrammes;femtotonne;femtotonnes	ft;NanoGM
ug	mass	1/1000000000	microgram;microgramme;micrograms;microgrammes;picotonne;picotonnes	pt;MicroGM;MC
centigram	mass	1/100000	centigramme;centigrams;centigrammes;CentiGM	cg;CGM
decigram	mass	1/10000	decigramme;decigrams;decigrammes;DeciGM	dg;DG
decagram	mass	1/100	decagramme;decagrams;decagrammes;dag	DecaGM;DJ
hectogram	mass	1/10	hectogramme;hectograms;hectogrammes;HectoGM	hg;HGM
Gg	mass	1000000	gigagram;gigagramme;gigagrams;gigagrammes;kilotonne;kilotonnes;kilo metric ton	kt;KiloTONNE;KTN;KiloTON_Metric
Tg	mass	1000000000	teragram;teragramme;teragrams;teragrammes;megatonne;megatonnes;MegaTONNE	Mt
petagram	mass	1000000000000	petagramme;petagrams;petagrammes;gigatonne;gigatonnes	Pg;Gt
exagram	mass	1000000000000000	exagramme;exagrams;exagrammes;teratonne;teratonnes	Eg;Tt
zettagram	mass	1000000000000000000	zettagramme;zettagrams;zettagrammes;petatonne;petatonnes	Zg;Pt
yottagram	mass	1000000000000000000000	yottagramme;yottagrams;yottagrammes;exatonne;exatonnes	Yg;Et
ronnagram	mass	1000000000000000000000000	ronnagramme;ronnagrams;ronnagrammes;zettatonne;zettatonnes	Rg;Zt
quettagram	mass	1000000000000000000000000000	quettagramme;quettagrams;quettagrammes;yottatonne;yottatonnes	Qg;Yt
quectosecond	time	1/1000000000000000000000000	quectoseconds	qs
rontosecond	time	1/1000000000000000000000	rontoseconds	rs
yoctosecond	time	1/1000000000000000000	yoctoseconds	ys
zeptosecond	time	1/1000000000000000	zeptoseconds	zs
attosecond	time	1/1000000000000	attoseconds;AttoSEC	as
femtosecond	time	1/1000000000	femtoseconds;FemtoSEC	fs
ps	time	1/1000000	picosecond;picoseconds	PicoSEC;H70
ns	time	1/1000	nanosecond;nanoseconds;uH/kohm;uH.kOhm-1;microhenry per kiloohm	NanoSEC;C47;MicroH-PER-KiloOHM;G98
centisecond	time	10000	centiseconds	cs
decisecond	time	100000	deciseconds;DeciSEC;P/Pa;P.Pa-1;poise per pascal	ds;C26;POISE-PER-PA;N35
decasecond	time	10000000	decaseconds	das
hectosecond	time	100000000	hectoseconds	hs
ks	time	1000000000	kilosecond;kiloseconds	KiloSEC;B52
Ms	time	1000000000000	megasecond;megaseconds	MegaSEC
Gs	time	1000000000000000	gigasecond;gigaseconds	
Ts	time	1000000000000000000	terasecond;teraseconds	
petasecond	time	1000000000000000000000	petaseconds	Ps
exasecond	time	1000000000000000000000000	exaseconds	Es
zettasecond	time	1000000000000000000000000000	zettaseconds	Zs
yottasecond	time	1000000000000000000000000000000	yottaseconds	Ys
ronnasecond	time	1000000000000000000000000000000000	ronnaseconds	Rs
quettasecond	time	1000000000000000000000000000000000000	quettaseconds	Qs
quectoampere	current	1/1000000000000000000000000000000	quectoamp;quectoamperes;quectoamps	qA
rontoampere	current	1/1000000000000000000000000000	rontoamp;rontoamperes;rontoamps	rA
yoctoampere	current	1/1000000000000000000000000	yoctoamp;yoctoamperes;yoctoamps	yA
zeptoampere	current	1/1000000000000000000000	zeptoamp;zeptoamperes;zeptoamps	zA
attoampere	current	1/1000000000000000000	attoamp;attoamperes;attoamps;AttoA	aA
femtoampere	current	1/1000000000000000	femtoamp;femtoamperes;femtoamps;FemtoA	fA
pA	current	1/1000000000000	picoampere;picoamp;picoamperes;picoamps	PicoA;C70
nA	current	1/1000000000	nanoampere;nanoamp;nanoamperes;nanoamps	NanoA;C39
centiampere	current	1/100	centiamp;centiamperes;centiamps	cA
deciampere	current	1/10	deciamp;deciamperes;deciamps	dA
decaampere	current	10	decaamp;decaamperes;decaamps;abA;abampere;BIOT;biot	daA;Bi;A_Ab;N96
hectoampere	current	100	hectoamp;hectoamperes;hectoamps	hA
kA	current	1000	kiloampere;kiloamp;kiloamperes;kiloamps	KiloA;B22
MA	current	1000000	megaampere;megaamp;megaamperes;megaamps	MegaA;H38
GA	current	1000000000	gigaampere;gigaamp;gigaamperes;gigaamps	GigaA
TA	current	1000000000000	teraampere;teraamp;teraamperes;teraamps	TeraA
petaampere	current	1000000000000000	petaamp;petaamperes;petaamps;PetaA	PA
exaampere	current	1000000000000000000	exaamp;exaamperes;exaamps	EA
zettaampere	current	1000000000000000000000	zettaamp;zettaamperes;zettaamps	ZA
yottaampere	current	1000000000000000000000000	yottaamp;yottaamperes;yottaamps	YA
ronnaampere	current	1000000000000000000000000000	ronnaamp;ronnaamperes;ronnaamps	RA
quettaampere	current	1000000000000000000000000000000	quettaamp;quettaamperes;quettaamps	QA
quectokelvin	temperature difference	1/1000000000000000000000000000000	quectokelvins	qK
rontokelvin	temperature difference	1/1000000000000000000000000000	rontokelvins	rK
yoctokelvin	temperature difference	1/1000000000000000000000000	yoctokelvins	yK
zeptokelvin	temperature difference	1/1000000000000000000000	zeptokelvins	zK
attokelvin	temperature difference	1/1000000000000000000	attokelvins	aK
femtokelvin	temperature difference	1/1000000000000000	femtokelvins	fK
pK	temperature difference	1/1000000000000	picokelvin;picokelvins	
nK	temperature difference	1/1000000000	nanokelvin;nanokelvins	
uK	temperature difference	1/1000000	microkelvin;microkelvins	
mK	temperature difference	1/1000	millikelvin;millikelvins	
centikelvin	temperature difference	1/100	centikelvins	cK
decikelvin	temperature difference	1/10	decikelvins	dK
decakelvin	temperature difference	10	decakelvins	daK
hectokelvin	temperature difference	100	hectokelvins	hK
kK	temperature difference	1000	kilokelvin;kilokelvins	
MK	temperature difference	1000000	megakelvin;megakelvins	
GK	temperature difference	1000000000	gigakelvin;gigakelvins	
TK	temperature difference	1000000000000	terakelvin;terakelvins	
petakelvin	temperature difference	1000000000000000	petakelvins	PK
exakelvin	temperature difference	1000000000000000000	exakelvins	EK
zettakelvin	temperature difference	1000000000000000000000	zettakelvins	ZK
yottakelvin	temperature difference	1000000000000000000000000	yottakelvins	YK
ronnakelvin	temperature difference	1000000000000000000000000000	ronnakelvins	RK
quettakelvin	temperature difference	1000000000000000000000000000000	quettakelvins	QK
mol	amount of substance	1	mole;moles;equivalent	EQ;Eq;MOL;C34
quectomole	amount of substance	1/1000000000000000000000000000000	quectomoles	qmol
rontomole	amount of substance	1/1000000000000000000000000000	rontomoles	rmol
yoctomole	amount of substance	1/1000000000000000000000000	yoctomoles	ymol
zeptomole	amount of substance	1/1000000000000000000000	zeptomoles	zmol
attomole	amount of substance	1/1000000000000000000	attomoles	amol
femtomole	amount of substance	1/1000000000000000	femtomoles;fmol	FemtoMOL
pmol	amount of substance	1/1000000000000	picomole;picomoles	PicoMOL
nmol	amount of substance	1/1000000000	nanomole;nanomoles	NanoMOL;Z9
umol	amount of substance	1/1000000	micromole;micromoles	MicroMOL;FH
mmol	amount of substance	1/1000	millimole;millimoles;mEq;mEQ;milliequivalent	MilliEQ;MilliMOL;C18
centimole	amount of substance	1/100	centimoles;cmol	CentiMOL
decimole	amount of substance	1/10	decimoles	dmol
decamole	amount of substance	10	decamoles	damol
hectomole	amount of substance	100	hectomoles	hmol
kmol	amount of substance	1000	kilomole;kilomoles	KiloMOL;B45
Mmol	amount of substance	1000000	megamole;megamoles	
Gmol	amount of substance	1000000000	gigamole;gigamoles	
Tmol	amount of substance	1000000000000	teramole;teramoles	
petamole	amount of substance	1000000000000000	petamoles	Pmol
examole	amount of substance	1000000000000000000	examoles	Emol
zettamole	amount of substance	1000000000000000000000	zettamoles	Zmol
yottamole	amount of substance	1000000000000000000000000	yottamoles	Ymol
ronnamole	amount of substance	1000000000000000000000000000	ronnamoles	Rmol
quettamole	amount of substance	1000000000000000000000000000000	quettamoles	Qmol
cd	luminous intensity	1	candela;candelas;candlepower	CD;CDL;CP;cp
quectocandela	luminous intensity	1/1000000000000000000000000000000	quectocandelas	qcd
rontocandela	luminous intensity	1/1000000000000000000000000000	rontocandelas	rcd
yoctocandela	luminous intensity	1/1000000000000000000000000	yoctocandelas	ycd
zeptocandela	luminous intensity	1/1000000000000000000000	zeptocandelas	zcd
attocandela	luminous intensity	1/1000000000000000000	attocandelas	acd
femtocandela	luminous intensity	1/1000000000000000	femtocandelas	fcd
pcd	luminous intensity	1/1000000000000	picocandela;picocandelas	
ncd	luminous intensity	1/1000000000	nanocandela;nanocandelas	
ucd	luminous intensity	1/1000000	microcandela;microcandelas	
mcd	luminous intensity	1/1000	millicandela;millicandelas	MilliCD;P34
centicandela	luminous intensity	1/100	centicandelas	ccd
decicandela	luminous intensity	1/10	decicandelas	dcd
decacandela	luminous intensity	10	decacandelas	dacd
hectocandela	luminous intensity	100	hectocandelas	hcd
kcd	luminous intensity	1000	kilocandela;kilocandelas	KiloCD;P33
Mcd	luminous intensity	1000000	megacandela;megacandelas	
Gcd	luminous intensity	1000000000	gigacandela;gigacandelas	
Tcd	luminous intensity	1000000000000	teracandela;teracandelas	
petacandela	luminous intensity	1000000000000000	petacandelas	Pcd
exacandela	luminous intensity	1000000000000000000	exacandelas	Ecd
zettacandela	luminous intensity	1000000000000000000000	zettacandelas	Zcd
yottacandela	luminous intensity	1000000000000000000000000	yottacandelas	Ycd
ronnacandela	luminous intensity	1000000000000000000000000000	ronnacandelas	Rcd
quettacandela	luminous intensity	1000000000000000000000000000000	quettacandelas	Qcd
quectohertz	frequency	1/1000000000000000000000000000000		qHz
rontohertz	frequency	1/1000000000000000000000000000		rHz
yoctohertz	frequency	1/1000000000000000000000000		yHz
zeptohertz	frequency	1/1000000000000000000000		zHz
attohertz	frequency	1/1000000000000000000		aHz
femtohertz	frequency	1/1000000000000000		fHz
pHz	frequency	1/1000000000000	picohertz	
nHz	frequency	1/1000000000	nanohertz	
uHz	frequency	1/1000000	microhertz	
mHz	frequency	1/1000	millihertz	MilliHZ;MTZ
centihertz	frequency	1/100	%/s;%.s-1;percent per second	cHz;PERCENT-PER-SEC
decihertz	frequency	1/10		dHz
decahertz	frequency	10		daHz
hectohertz	frequency	100		hHz
THz	frequency	1000000000000	terahertz	TeraHZ;D29
petahertz	frequency	1000000000000000	PHz	PetaHZ
exahertz	frequency	1000000000000000000		EHz
zettahertz	frequency	1000000000000000000000		ZHz
yottahertz	frequency	1000000000000000000000000		YHz
ronnahertz	frequency	1000000000000000000000000000		RHz
quettahertz	frequency	1000000000000000000000000000000		QHz
quectonewton	force	1/1000000000000000000000000000000	quectonewtons	qN
rontonewton	force	1/1000000000000000000000000000	rontonewtons	rN
yoctonewton	force	1/1000000000000000000000000	yoctonewtons	yN
zeptonewton	force	1/1000000000000000000000	zeptonewtons	zN
attonewton	force	1/1000000000000000000	attonewtons	aN
femtonewton	force	1/1000000000000000	femtonewtons	fN
pN	force	1/1000000000000	piconewton;piconewtons	
nN	force	1/1000000000	nanonewton;nanonewtons	NanoN
uN	force	1/1000000	micronewton;micronewtons	MicroN;B92
mN	force	1/1000	millinewton;millinewtons	MilliN;C20
centinewton	force	1/100	centinewtons;CentiN	cN
decinewton	force	1/10	decinewtons;DeciN	dN
decanewton	force	10	decanewtons	daN
hectonewton	force	100	hectonewtons	hN
MN	force	1000000	meganewton;meganewtons	MegaN;B73
GN	force	1000000000	giganewton;giganewtons	GigaN
TN	force	1000000000000	teranewton;teranewtons	
petanewton	force	1000000000000000	petanewtons	PN
exanewton	force	1000000000000000000	exanewtons	EN
zettanewton	force	1000000000000000000000	zettanewtons	ZN
yottanewton	force	1000000000000000000000000	yottanewtons	YN
ronnanewton	force	1000000000000000000000000000	ronnanewtons	RN
quettanewton	force	1000000000000000000000000000000	quettanewtons	QN
quectopascal	pressure	1/1000000000000000000000000000000	quectopascals	qPa
rontopascal	pressure	1/1000000000000000000000000000	rontopascals	rPa
yoctopascal	pressure	1/1000000000000000000000000	yoctopascals	yPa
zeptopascal	pressure	1/1000000000000000000000	zeptopascals	zPa
attopascal	pressure	1/1000000000000000000	attopascals	aPa
femtopascal	pressure	1/1000000000000000	femtopascals	fPa
pPa	pressure	1/1000000000000	picopascal;picopascals	PicoPA
nPa	pressure	1/1000000000	nanopascal;nanopascals	
uPa	pressure	1/1000000	micropascal;micropascals	MicroPA;B96
mPa	pressure	1/1000	millipascal;millipascals	MilliPA;74
centipascal	pressure	1/100	centipascals	cPa
decipascal	pressure	1/10	decipascals;ubar;microbar;microbars;BARAD;barad;BARYE;barye;dyn/cm2;dyn.cm-2;dyne per square centimetre	dPa;Ba;MicroBAR;B85;DYN-PER-CentiM2;D9
decapascal	pressure	10	decapascals;daPa	DecaPA;H75
GPa	pressure	1000000000	gigapascal;gigapascals;kN/mm2;kN.mm-2;kilonewton per square millimetre	GigaPA;A89;KiloN-PER-MilliM2
TPa	pressure	1000000000000	terapascal;terapascals	
petapascal	pressure	1000000000000000	petapascals	PPa
exapascal	pressure	1000000000000000000	exapascals	EPa
zettapascal	pressure	1000000000000000000000	zettapascals	ZPa
yottapascal	pressure	1000000000000000000000000	yottapascals	YPa
ronnapascal	pressure	1000000000000000000000000000	ronnapascals	RPa
quettapascal	pressure	1000000000000000000000000000000	quettapascals	QPa
quectojoule	energy	1/1000000000000000000000000000000	quectojoules	qJ
rontojoule	energy	1/1000000000000000000000000000	rontojoules	rJ
yoctojoule	energy	1/1000000000000000000000000	yoctojoules	yJ
zeptojoule	energy	1/1000000000000000000000	zeptojoules	zJ
attojoule	energy	1/1000000000000000000	attojoules;AttoJ	aJ;A13
femtojoule	energy	1/1000000000000000	femtojoules;FemtoJ	fJ;A70
pJ	energy	1/1000000000000	picojoule;picojoules	PicoJ
nJ	energy	1/1000000000	nanojoule;nanojoules	NanoJ
uJ	energy	1/1000000	microjoule;microjoules	MicroJ
mJ	energy	1/1000	millijoule;millijoules	MilliJ;C15
centijoule	energy	1/100	centijoules	cJ
decijoule	energy	1/10	decijoules	dJ
decajoule	energy	10	decajoules	daJ
hectojoule	energy	100	hectojoules	hJ
TJ	energy	1000000000000	terajoule;terajoules	TeraJ;D30
petajoule	energy	1000000000000000	petajoules;PetaJ	PJ;C68
exajoule	energy	1000000000000000000	exajoules;ExaJ	EJ;A68
zettajoule	energy	1000000000000000000000	zettajoules	ZJ
yottajoule	energy	1000000000000000000000000	yottajoules	YJ
ronnajoule	energy	1000000000000000000000000000	ronnajoules	RJ
quettajoule	energy	1000000000000000000000000000000	quettajoules	QJ
quectowatt	power	1/1000000000000000000000000000000	quectowatts	qW
rontowatt	power	1/1000000000000000000000000000	rontowatts	rW
yoctowatt	power	1/1000000000000000000000000	yoctowatts	yW
zeptowatt	power	1/1000000000000000000000	zeptowatts	zW
attowatt	power	1/1000000000000000000	attowatts	aW
femtowatt	power	1/1000000000000000	femtowatts	fW
pW	power	1/1000000000000	picowatt;picowatts;pJ/s;pJ.s-1;picojoule per second	PicoW;C75;PicoJ-PER-SEC
nW	power	1/1000000000	nanowatt;nanowatts;nJ/s;nJ.s-1;nanojoule per second	NanoW;C49;NanoJ-PER-SEC
uW	power	1/1000000	microwatt;microwatts;uJ/s;uJ.s-1;microjoule per second	MicroW;D80;MicroJ-PER-SEC
centiwatt	power	1/100	centiwatts	cW
deciwatt	power	1/10	deciwatts;hPa.L/s;hPa.L.s-1;hectopascal litre per second;mbar.L/s;mbar.L.s-1;millibar litre per second	dW;HectoPA-L-PER-SEC;F93;MilliBAR-L-PER-SEC;F95
decawatt	power	10	decawatts	daW
hectowatt	power	100	hectowatts;bar.L/s;bar.L.s-1;bar litre per second;hPa.m3/s;hPa.m3.s-1;hectopascal cubic metre per second;mbar.m3/s;mbar.m3.s-1;millibar cubic metre per second	hW;BAR-L-PER-SEC;F91;HectoPA-M3-PER-SEC;F94;MilliBAR-M3-PER-SEC;F96
GW	power	1000000000	gigawatt;gigawatts;GJ/s;GJ.s-1;gigajoule per second	GigaW;A90;GigaJ-PER-SEC
TW	power	1000000000000	terawatt;terawatts;TJ/s;TJ.s-1;terajoule per second	TeraW;D31;TeraJ-PER-SEC
petawatt	power	1000000000000000	petawatts;PetaW;PJ/s;PJ.s-1;petajoule per second	PW;PetaJ-PER-SEC
exawatt	power	1000000000000000000	exawatts;ExaW;EJ/s;EJ.s-1;exajoule per second	EW;ExaJ-PER-SEC
zettawatt	power	1000000000000000000000	zettawatts	ZW
yottawatt	power	1000000000000000000000000	yottawatts	YW
ronnawatt	power	1000000000000000000000000000	ronnawatts	RW
quettawatt	power	1000000000000000000000000000000	quettawatts	QW
coulomb	charge	1	coulombs;A.s;ampere second;kJ/kV;kJ.kV-1;kilojoule per kilovolt	C;COU;A-SEC;A8;KiloJ-PER-KiloV
quectocoulomb	charge	1/1000000000000000000000000000000	quectocoulombs	qC
rontocoulomb	charge	1/1000000000000000000000000000	rontocoulombs	rC
yoctocoulomb	charge	1/1000000000000000000000000	yoctocoulombs;YoctoC	yC
zeptocoulomb	charge	1/1000000000000000000000	zeptocoulombs;ZeptoC	zC
attocoulomb	charge	1/1000000000000000000	attocoulombs;AttoC	aC
femtocoulomb	charge	1/1000000000000000	femtocoulombs;FemtoC	fC
pC	charge	1/1000000000000	picocoulomb;picocoulombs	PicoC;C71
nC	charge	1/1000000000	nanocoulomb;nanocoulombs	NanoC;C40
uC	charge	1/1000000	microcoulomb;microcoulombs	MicroC;B86
mC	charge	1/1000	millicoulomb;millicoulombs;mA.s;milliampere second	MilliC;D86;MilliA-SEC
centicoulomb	charge	1/100	centicoulombs;CentiC	cC
decicoulomb	charge	1/10	decicoulombs;DeciC	dC
decacoulomb	charge	10	decacoulombs;abC;10.C;abcoulomb;daC	C_Ab;DecaC
hectocoulomb	charge	100	hectocoulombs;HectoC	hC
kC	charge	1000	kilocoulomb;kilocoulombs	KiloC;B26
MC	charge	1000000	megacoulomb;megacoulombs	MegaC;D77
GC	charge	1000000000	gigacoulomb;gigacoulombs	GigaC
TC	charge	1000000000000	teracoulomb;teracoulombs	TeraC
petacoulomb	charge	1000000000000000	petacoulombs;PetaC	PC
exacoulomb	charge	1000000000000000000	exacoulombs;ExaC	EC
zettacoulomb	charge	1000000000000000000000	zettacoulombs;ZettaC	ZC
yottacoulomb	charge	1000000000000000000000000	yottacoulombs;YottaC	YC
ronnacoulomb	charge	1000000000000000000000000000	ronnacoulombs	RC
quettacoulomb	charge	1000000000000000000000000000000	quettacoulombs	QC
quectovolt	voltage	1/1000000000000000000000000000000	quectovolts	qV
rontovolt	voltage	1/1000000000000000000000000000	rontovolts	rV
yoctovolt	voltage	1/1000000000000000000000000	yoctovolts	yV
zeptovolt	voltage	1/1000000000000000000000	zeptovolts	zV
attovolt	voltage	1/1000000000000000000	attovolts	aV
femtovolt	voltage	1/1000000000000000	femtovolts;FemtoV	fV
pV	voltage	1/1000000000000	picovolt;picovolts	PicoV;N99
nV	voltage	1/1000000000	nanovolt;nanovolts	NanoV
centivolt	voltage	1/100	centivolts	cV
decivolt	voltage	1/10	decivolts	dV
decavolt	voltage	10	decavolts	daV
hectovolt	voltage	100	hectovolts	hV
MV	voltage	1000000	megavolt;megavolts	MegaV;B78
GV	voltage	1000000000	gigavolt;gigavolts	GigaV
TV	voltage	1000000000000	teravolt;teravolts	TeraV
petavolt	voltage	1000000000000000	petavolts;PetaV	PV
exavolt	voltage	1000000000000000000	exavolts;ExaV	EV
zettavolt	voltage	1000000000000000000000	zettavolts	ZV
yottavolt	voltage	1000000000000000000000000	yottavolts	YV
ronnavolt	voltage	1000000000000000000000000000	ronnavolts	RV
quettavolt	voltage	1000000000000000000000000000000	quettavolts	QV
farad	capacitance	1	farads	F;FARAD;FAR
quectofarad	capacitance	1/1000000000000000000000000000000	quectofarads	qF
rontofarad	capacitance	1/1000000000000000000000000000	rontofarads	rF
yoctofarad	capacitance	1/1000000000000000000000000	yoctofarads	yF
zeptofarad	capacitance	1/1000000000000000000000	zeptofarads	zF
attofarad	capacitance	1/1000000000000000000	attofarads;AttoFARAD	aF;H48
femtofarad	capacitance	1/1000000000000000	femtofarads;FemtoFARAD	fF
mF	capacitance	1/1000	millifarad;millifarads	MilliFARAD;C10
centifarad	capacitance	1/100	centifarads	cF
decifarad	capacitance	1/10	decifarads	dF
decafarad	capacitance	10	decafarads	daF
hectofarad	capacitance	100	hectofarads	hF
kF	capacitance	1000	kilofarad;kilofarads	KiloFARAD;N90
MF	capacitance	1000000	megafarad;megafarads	
GF	capacitance	1000000000	gigafarad;gigafarads;abF;abfarad	FARAD_Ab
TF	capacitance	1000000000000	terafarad;terafarads	
petafarad	capacitance	1000000000000000	petafarads	PF
exafarad	capacitance	1000000000000000000	exafarads	EF
zettafarad	capacitance	1000000000000000000000	zettafarads	ZF
yottafarad	capacitance	1000000000000000000000000	yottafarads	YF
ronnafarad	capacitance	1000000000000000000000000000	ronnafarads	RF
quettafarad	capacitance	1000000000000000000000000000000	quettafarads	QF
quectoohm	resistance	1/1000000000000000000000000000000	quectoohms	qohm
rontoohm	resistance	1/1000000000000000000000000000	rontoohms	rohm
yoctoohm	resistance	1/1000000000000000000000000	yoctoohms	yohm
zeptoohm	resistance	1/1000000000000000000000	zeptoohms	zohm
attoohm	resistance	1/1000000000000000000	attoohms	aohm
femtoohm	resistance	1/1000000000000000	femtoohms	fohm
pohm	resistance	1/1000000000000	picoohm;picoohms	
nohm	resistance	1/1000000000	nanoohm;nanoohms;abohm;nOhm	OHM_Ab;NanoOHM;P22
uohm	resistance	1/1000000	microohm;microohms;uOhm	MicroOHM;B94
mohm	resistance	1/1000	milliohm;milliohms;mOhm	MilliOHM;E45
centiohm	resistance	1/100	centiohms	cohm
deciohm	resistance	1/10	deciohms	dohm
decaohm	resistance	10	decaohms	daohm
hectoohm	resistance	100	hectoohms	hohm
Gohm	resistance	1000000000	gigaohm;gigaohms;GOhm	GigaOHM;A87
Tohm	resistance	1000000000000	teraohm;teraohms;TOhm	TeraOHM;H44
petaohm	resistance	1000000000000000	petaohms	Pohm
exaohm	resistance	1000000000000000000	exaohms	Eohm
zettaohm	resistance	1000000000000000000000	zettaohms	Zohm
yottaohm	resistance	1000000000000000000000000	yottaohms	Yohm
ronnaohm	resistance	1000000000000000000000000000	ronnaohms	Rohm
quettaohm	resistance	1000000000000000000000000000000	quettaohms	Qohm
S	conductance	1	siemens;MHO;mho	SIE;℧;NQ
quectosiemens	conductance	1/1000000000000000000000000000000		qS
rontosiemens	conductance	1/1000000000000000000000000000		rS
yoctosiemens	conductance	1/1000000000000000000000000		yS
zeptosiemens	conductance	1/1000000000000000000000		zS
attosiemens	conductance	1/1000000000000000000		aS
femtosiemens	conductance	1/1000000000000000		fS
pS	conductance	1/1000000000000	picosiemens	PicoS;N92
nS	conductance	1/1000000000	nanosiemens	NanoS
uS	conductance	1/1000000	microsiemens;MicroMHO;umho;micromho	MicroS;B99;u℧;NR
mS	conductance	1/1000	millisiemens	MilliS;C27
centisiemens	conductance	1/100	%/ohm;%.Ohm-1;percent per ohm	cS;PERCENT-PER-OHM;H89
decisiemens	conductance	1/10	DeciS	dS
decasiemens	conductance	10		daS
hectosiemens	conductance	100		hS
kS	conductance	1000	kilosiemens	KiloS;B53
MS	conductance	1000000	megasiemens	MegaS
GS	conductance	1000000000	gigasiemens	
TS	conductance	1000000000000	terasiemens	
petasiemens	conductance	1000000000000000		PS
exasiemens	conductance	1000000000000000000		ES
zettasiemens	conductance	1000000000000000000000		ZS
yottasiemens	conductance	1000000000000000000000000		YS
ronnasiemens	conductance	1000000000000000000000000000		RS
quettasiemens	conductance	1000000000000000000000000000000		QS
Wb	magnetic flux	1	weber;webers;N.m/A;N.m.A-1;newton metre per ampere	WB;WEB;N-M-PER-A;F90
quectoweber	magnetic flux	1/1000000000000000000000000000000	quectowebers	qWb
rontoweber	magnetic flux	1/1000000000000000000000000000	rontowebers	rWb
yoctoweber	magnetic flux	1/1000000000000000000000000	yoctowebers	yWb
zeptoweber	magnetic flux	1/1000000000000000000000	zeptowebers	zWb
attoweber	magnetic flux	1/1000000000000000000	attowebers	aWb
femtoweber	magnetic flux	1/1000000000000000	femtowebers	fWb
pWb	magnetic flux	1/1000000000000	picoweber;picowebers	
nWb	magnetic flux	1/1000000000	nanoweber;nanowebers	
uWb	magnetic flux	1/1000000	microweber;microwebers	
mWb	magnetic flux	1/1000	milliweber;milliwebers	MilliWB;C33
centiweber	magnetic flux	1/100	centiwebers	cWb
deciweber	magnetic flux	1/10	deciwebers	dWb
decaweber	magnetic flux	10	decawebers	daWb
hectoweber	magnetic flux	100	hectowebers	hWb
kWb	magnetic flux	1000	kiloweber;kilowebers	KiloWB;P11
MWb	magnetic flux	1000000	megaweber;megawebers	
GWb	magnetic flux	1000000000	gigaweber;gigawebers	
TWb	magnetic flux	1000000000000	teraweber;terawebers	
petaweber	magnetic flux	1000000000000000	petawebers	PWb
exaweber	magnetic flux	1000000000000000000	exawebers	EWb
zettaweber	magnetic flux	1000000000000000000000	zettawebers	ZWb
yottaweber	magnetic flux	1000000000000000000000000	yottawebers	YWb
ronnaweber	magnetic flux	1000000000000000000000000000	ronnawebers	RWb
quettaweber	magnetic flux	1000000000000000000000000000000	quettawebers	QWb
T	magnetic flux density	1	tesla;teslas	D33
quectotesla	magnetic flux density	1/1000000000000000000000000000000	quectoteslas	qT
rontotesla	magnetic flux density	1/1000000000000000000000000000	rontoteslas	rT
yoctotesla	magnetic flux density	1/1000000000000000000000000	yoctoteslas	yT
zeptotesla	magnetic flux density	1/1000000000000000000000	zeptoteslas	zT
attotesla	magnetic flux density	1/1000000000000000000	attoteslas	aT
femtotesla	magnetic flux density	1/1000000000000000	femtoteslas	fT
pT	magnetic flux density	1/1000000000000	picotesla;picoteslas	
nT	magnetic flux density	1/1000000000	nanotesla;nanoteslas;GAMMA;gamma	γ;P12;NanoT;C48
centitesla	magnetic flux density	1/100	centiteslas	cT
decitesla	magnetic flux density	1/10	deciteslas;kGs;kilogauss	dT;kG;KiloGAUSS;78
decatesla	magnetic flux density	10	decateslas	daT
hectotesla	magnetic flux density	100	hectoteslas	hT
kT	magnetic flux density	1000	kilotesla;kiloteslas	KiloT;P13
MT	magnetic flux density	1000000	megatesla;megateslas	
GT	magnetic flux density	1000000000	gigatesla;gigateslas	
TT	magnetic flux density	1000000000000	teratesla;terateslas	
petatesla	magnetic flux density	1000000000000000	petateslas	PT
exatesla	magnetic flux density	1000000000000000000	exateslas	ET
zettatesla	magnetic flux density	1000000000000000000000	zettateslas	ZT
yottatesla	magnetic flux density	1000000000000000000000000	yottateslas	YT
ronnatesla	magnetic flux density	1000000000000000000000000000	ronnateslas	RT
quettatesla	magnetic flux density	1000000000000000000000000000000	quettateslas	QT
henry	inductance	1	henrys	H;81
quectohenry	inductance	1/1000000000000000000000000000000	quectohenrys	qH
rontohenry	inductance	1/1000000000000000000000000000	rontohenrys	rH
yoctohenry	inductance	1/1000000000000000000000000	yoctohenrys	yH
zeptohenry	inductance	1/1000000000000000000000	zeptohenrys	zH
attohenry	inductance	1/1000000000000000000	attohenrys	aH
femtohenry	inductance	1/1000000000000000	femtohenrys	fH
picohenry	inductance	1/1000000000000	picohenrys	pH;PicoH;C73
nH	inductance	1/1000000000	nanohenry;nanohenrys;abH;abhenry	H_Ab;NanoH;C43
uH	inductance	1/1000000	microhenry;microhenrys	MicroH;B90
mH	inductance	1/1000	millihenry;millihenrys	MilliH;C14
centihenry	inductance	1/100	centihenrys	cH
decihenry	inductance	1/10	decihenrys	dH
decahenry	inductance	10	decahenrys	daH
hectohenry	inductance	100	hectohenrys	hH
kH	inductance	1000	kilohenry;kilohenrys	KiloH;P24
MH	inductance	1000000	megahenry;megahenrys	
GH	inductance	1000000000	gigahenry;gigahenrys	
TH	inductance	1000000000000	terahenry;terahenrys	
petahenry	inductance	1000000000000000	petahenrys	PH
exahenry	inductance	1000000000000000000	exahenrys	EH
zettahenry	inductance	1000000000000000000000	zettahenrys	ZH
yottahenry	inductance	1000000000000000000000000	yottahenrys	YH
ronnahenry	inductance	1000000000000000000000000000	ronnahenrys	RH
quettahenry	inductance	1000000000000000000000000000000	quettahenrys	QH
lm	luminous flux	1	lumen;lumens	LM;LUM
quectolumen	luminous flux	1/1000000000000000000000000000000	quectolumens	qlm
rontolumen	luminous flux	1/1000000000000000000000000000	rontolumens	rlm
yoctolumen	luminous flux	1/1000000000000000000000000	yoctolumens	ylm
zeptolumen	luminous flux	1/1000000000000000000000	zeptolumens	zlm
attolumen	luminous flux	1/1000000000000000000	attolumens	alm
femtolumen	luminous flux	1/1000000000000000	femtolumens	flm
plm	luminous flux	1/1000000000000	picolumen;picolumens	
nlm	luminous flux	1/1000000000	nanolumen;nanolumens	
ulm	luminous flux	1/1000000	microlumen;microlumens	
mlm	luminous flux	1/1000	millilumen;millilumens	
centilumen	luminous flux	1/100	centilumens	clm
decilumen	luminous flux	1/10	decilumens	dlm
decalumen	luminous flux	10	decalumens	dalm
hectolumen	luminous flux	100	hectolumens	hlm
klm	luminous flux	1000	kilolumen;kilolumens	KiloLM
Mlm	luminous flux	1000000	megalumen;megalumens	
Glm	luminous flux	1000000000	gigalumen;gigalumens	
Tlm	luminous flux	1000000000000	teralumen;teralumens	
petalumen	luminous flux	1000000000000000	petalumens	Plm
exalumen	luminous flux	1000000000000000000	exalumens	Elm
zettalumen	luminous flux	1000000000000000000000	zettalumens	Zlm
yottalumen	luminous flux	1000000000000000000000000	yottalumens	Ylm
ronnalumen	luminous flux	1000000000000000000000000000	ronnalumens	Rlm
quettalumen	luminous flux	1000000000000000000000000000000	quettalumens	Qlm
quectolux	illuminance	1/1000000000000000000000000000000		qlx
rontolux	illuminance	1/1000000000000000000000000000		rlx
yoctolux	illuminance	1/1000000000000000000000000		ylx
zeptolux	illuminance	1/1000000000000000000000		zlx
attolux	illuminance	1/1000000000000000000		alx
femtolux	illuminance	1/1000000000000000		flx
plx	illuminance	1/1000000000000	picolux	
nlx	illuminance	1/1000000000	nanolux	
ulx	illuminance	1/1000000	microlux	
mlx	illuminance	1/1000	millilux	
centilux	illuminance	1/100		clx
decilux	illuminance	1/10		dlx
decalux	illuminance	10		dalx
hectolux	illuminance	100		hlx
klx	illuminance	1000	kilolux	
Mlx	illuminance	1000000	megalux	
Glx	illuminance	1000000000	gigalux	
Tlx	illuminance	1000000000000	teralux	
petalux	illuminance	1000000000000000		Plx
exalux	illuminance	1000000000000000000		Elx
zettalux	illuminance	1000000000000000000000		Zlx
yottalux	illuminance	1000000000000000000000000		Ylx
ronnalux	illuminance	1000000000000000000000000000		Rlx
quettalux	illuminance	1000000000000000000000000000000		Qlx
Bq	radioactivity	1	becquerel;becquerels	BQ;BQL
quectobecquerel	radioactivity	1/1000000000000000000000000000000	quectobecquerels	qBq
rontobecquerel	radioactivity	1/1000000000000000000000000000	rontobecquerels	rBq
yoctobecquerel	radioactivity	1/1000000000000000000000000	yoctobecquerels	yBq
zeptobecquerel	radioactivity	1/1000000000000000000000	zeptobecquerels	zBq
attobecquerel	radioactivity	1/1000000000000000000	attobecquerels	aBq
femtobecquerel	radioactivity	1/1000000000000000	femtobecquerels	fBq
pBq	radioactivity	1/1000000000000	picobecquerel;picobecquerels	
nBq	radioactivity	1/1000000000	nanobecquerel;nanobecquerels	NanoBQ
uBq	radioactivity	1/1000000	microbecquerel;microbecquerels	MicroBQ;H08
mBq	radioactivity	1/1000	millibecquerel;millibecquerels	MilliBQ
centibecquerel	radioactivity	1/100	centibecquerels	cBq
decibecquerel	radioactivity	1/10	decibecquerels	dBq
decabecquerel	radioactivity	10	decabecquerels	daBq
hectobecquerel	radioactivity	100	hectobecquerels	hBq
kBq	radioactivity	1000	kilobecquerel;kilobecquerels	KiloBQ;2Q
MBq	radioactivity	1000000	megabecquerel;megabecquerels	MegaBQ;4N
GBq	radioactivity	1000000000	gigabecquerel;gigabecquerels	GigaBQ;GBQ
TBq	radioactivity	1000000000000	terabecquerel;terabecquerels	TeraBQ
petabecquerel	radioactivity	1000000000000000	petabecquerels;PBq	PetaBQ
exabecquerel	radioactivity	1000000000000000000	exabecquerels	EBq
zettabecquerel	radioactivity	1000000000000000000000	zettabecquerels	ZBq
yottabecquerel	radioactivity	1000000000000000000000000	yottabecquerels	YBq
ronnabecquerel	radioactivity	1000000000000000000000000000	ronnabecquerels	RBq
quettabecquerel	radioactivity	1000000000000000000000000000000	quettabecquerels	QBq
Gy	absorbed dose	1	gray;grays;m2.Hz2;square metre square hertz;m2/s2;m2.s-2;square metre per square second;J/kg;J.kg-1;joule per kilogram;mJ/g;mJ.g-1;millijoule per gram;N-M-PER-KiloGM;N.m/kg;N.m.kg-1;newton metre per kilogram	GRAY;A95;M2-HZ2;M2-PER-SEC2;J-PER-KiloGM;J2;MilliJ-PER-GM;gp;G19
quectogray	absorbed dose	1/1000000000000000000000000000000	quectograys	qGy
rontogray	absorbed dose	1/1000000000000000000000000000	rontograys	rGy
yoctogray	absorbed dose	1/1000000000000000000000000	yoctograys	yGy
zeptogray	absorbed dose	1/1000000000000000000000	zeptograys	zGy
attogray	absorbed dose	1/1000000000000000000	attograys	aGy
femtogray	absorbed dose	1/1000000000000000	femtograys	fGy
pGy	absorbed dose	1/1000000000000	picogray;picograys	
nGy	absorbed dose	1/1000000000	nanogray;nanograys	NanoGRAY
uGy	absorbed dose	1/1000000	microgray;micrograys	MicroGRAY
mGy	absorbed dose	1/1000	milligray;milligrays	MilliGRAY;C13
centigray	absorbed dose	1/100	centigrays;RAD;cGy	rad;RAD_R;C80;CentiGRAY
decigray	absorbed dose	1/10	decigrays	dGy
decagray	absorbed dose	10	decagrays	daGy
hectogray	absorbed dose	100	hectograys	hGy
kGy	absorbed dose	1000	kilogray;kilograys;J/g;J.g-1;joule per gram;kJ/kg;kJ.kg-1;kilojoule per kilogram	J-PER-GM;D95;KiloGRAY;KiloJ-PER-KiloGM;B42
MGy	absorbed dose	1000000	megagray;megagrays;km2/s2;km2.s-2;square kilometre per square second;MJ/kg;MJ.kg-1;megajoule per kilogram;GPa.cm3/g;GPa.cm3.g-1;gigapascal cubic centimetre per gram	MegaGRAY;KiloM2-PER-SEC2;MegaJ-PER-KiloGM;JK;GigaPA-CentiM3-PER-GM
GGy	absorbed dose	1000000000	gigagray;gigagrays	
TGy	absorbed dose	1000000000000	teragray;teragrays	
petagray	absorbed dose	1000000000000000	petagrays	PGy
exagray	absorbed dose	1000000000000000000	exagrays	EGy
zettagray	absorbed dose	1000000000000000000000	zettagrays	ZGy
yottagray	absorbed dose	1000000000000000000000000	yottagrays	YGy
ronnagray	absorbed dose	1000000000000000000000000000	ronnagrays	RGy
quettagray	absorbed dose	1000000000000000000000000000000	quettagrays	QGy
Sv	dose equivalent	1	sievert;sieverts	SV;D13
quectosievert	dose equivalent	1/1000000000000000000000000000000	quectosieverts	qSv
rontosievert	dose equivalent	1/1000000000000000000000000000	rontosieverts	rSv
yoctosievert	dose equivalent	1/1000000000000000000000000	yoctosieverts	ySv
zeptosievert	dose equivalent	1/1000000000000000000000	zeptosieverts	zSv
attosievert	dose equivalent	1/1000000000000000000	attosieverts	aSv
femtosievert	dose equivalent	1/1000000000000000	femtosieverts	fSv
pSv	dose equivalent	1/1000000000000	picosievert;picosieverts	
nSv	dose equivalent	1/1000000000	nanosievert;nanosieverts	NanoSV
uSv	dose equivalent	1/1000000	microsievert;microsieverts	MicroSV
mSv	dose equivalent	1/1000	millisievert;millisieverts	MilliSV;C28
centisievert	dose equivalent	1/100	centisieverts;rem;REM;roentgen equivalent man	cSv;D91;R_man
decisievert	dose equivalent	1/10	decisieverts	dSv
decasievert	dose equivalent	10	decasieverts	daSv
hectosievert	dose equivalent	100	hectosieverts	hSv
kSv	dose equivalent	1000	kilosievert;kilosieverts	
MSv	dose equivalent	1000000	megasievert;megasieverts	
GSv	dose equivalent	1000000000	gigasievert;gigasieverts	
TSv	dose equivalent	1000000000000	terasievert;terasieverts	
petasievert	dose equivalent	1000000000000000	petasieverts	PSv
exasievert	dose equivalent	1000000000000000000	exasieverts	ESv
zettasievert	dose equivalent	1000000000000000000000	zettasieverts	ZSv
yottasievert	dose equivalent	1000000000000000000000000	yottasieverts	YSv
ronnasievert	dose equivalent	1000000000000000000000000000	ronnasieverts	RSv
quettasievert	dose equivalent	1000000000000000000000000000000	quettasieverts	QSv
quectolitre	volume	1/1000000000000000000000000000000000	quectoliter;quectolitres;quectoliters	ql
rontolitre	volume	1/1000000000000000000000000000000	rontoliter;rontolitres;rontoliters;ANGSTROM3;Ao3;cubic angstrom	rl;Å3
yoctolitre	volume	1/1000000000000000000000000000	yoctoliter;yoctolitres;yoctoliters	yl
zeptolitre	volume	1/1000000000000000000000000	zeptoliter;zeptolitres;zeptoliters	zl
attolitre	volume	1/1000000000000000000000	attoliter;attolitres;attoliters	al
femtolitre	volume	1/1000000000000000000	femtoliter;femtolitres;femtoliters;FemtoL;um3;cubic micrometre	fl;fL;Q32;MicroM3
pl	volume	1/1000000000000000	picolitre;picoliter;picolitres;picoliters;PicoL	pL;Q33
nl	volume	1/1000000000000	nanolitre;nanoliter;nanolitres;nanoliters;NanoL	nL;Q34
ul	volume	1/1000000000	microlitre;microliter;microlitres;microliters;MicroL;mm3;cubic millimetre	uL;4G;MilliM3;MMQ
centilitre	volume	1/100000	centiliter;centilitres;centiliters;CentiL	cl;cL;CLT
decilitre	volume	1/10000	deciliter;decilitres;deciliters;DeciL	dl;dL;DLT
decalitre	volume	1/100	decaliter;decalitres;decaliters;daL	dal;DecaL;A44
hectolitre	volume	1/10	hectoliter;hectolitres;hectoliters;HectoL	hl;hL;HLT
Ml	volume	1000	megalitre;megaliter;megalitres;megaliters;MegaL;dam3;cubic decametre	ML;MAL;DecaM3;DMA
Gl	volume	1000000	gigalitre;gigaliter;gigalitres;gigaliters	
Tl	volume	1000000000	teralitre;teraliter;teralitres;teraliters	
petalitre	volume	1000000000000	petaliter;petalitres;petaliters	Pl
exalitre	volume	1000000000000000	exaliter;exalitres;exaliters	El
zettalitre	volume	1000000000000000000	zettaliter;zettalitres;zettaliters	Zl
yottalitre	volume	1000000000000000000000	yottaliter;yottalitres;yottaliters	Yl
ronnalitre	volume	1000000000000000000000000	ronnaliter;ronnalitres;ronnaliters	Rl
quettalitre	volume	1000000000000000000000000000	quettaliter;quettalitres;quettaliters	Ql
quectobar	pressure	1/10000000000000000000000000	quectobars	qbar
rontobar	pressure	1/10000000000000000000000	rontobars	rbar
yoctobar	pressure	1/10000000000000000000	yoctobars	ybar
zeptobar	pressure	1/10000000000000000	zeptobars	zbar
attobar	pressure	1/10000000000000	attobars	abar
femtobar	pressure	1/10000000000	femtobars	fbar
pbar	pressure	1/10000000	picobar;picobars	
nbar	pressure	1/10000	nanobar;nanobars	
decibar	pressure	10000	decibars;dbar;N/cm2;N.cm-2;newton per square centimetre	DeciBAR;N-PER-CentiM2;E01
hectobar	pressure	10000000	hectobars;hbar;kN/cm2;kN.cm-2;kilonewton per square centimetre	HectoBAR;HBA;KiloN-PER-CentiM2
kbar	pressure	100000000	kilobar;kilobars	KiloBAR;KBA
Mbar	pressure	100000000000	megabar;megabars	MegaBAR
Gbar	pressure	100000000000000	gigabar;gigabars	
Tbar	pressure	100000000000000000	terabar;terabars	
petabar	pressure	100000000000000000000	petabars	Pbar
exabar	pressure	100000000000000000000000	exabars	Ebar
zettabar	pressure	100000000000000000000000000	zettabars	Zbar
yottabar	pressure	100000000000000000000000000000	yottabars	Ybar
ronnabar	pressure	100000000000000000000000000000000	ronnabars	Rbar
quettabar	pressure	100000000000000000000000000000000000	quettabars	Qbar
eV	energy	801088317/5000000000000000000000000000	electronvolt;electronvolts;electron volt	EV;A53
quectoelectronvolt	energy	801088317/5000000000000000000000000000000000000000000000000000000000	quectoelectronvolts	qeV
rontoelectronvolt	energy	801088317/5000000000000000000000000000000000000000000000000000000	rontoelectronvolts	reV
yoctoelectronvolt	energy	801088317/5000000000000000000000000000000000000000000000000000	yoctoelectronvolts	yeV
zeptoelectronvolt	energy	801088317/5000000000000000000000000000000000000000000000000	zeptoelectronvolts	zeV
attoelectronvolt	energy	801088317/5000000000000000000000000000000000000000000000	attoelectronvolts	aeV
femtoelectronvolt	energy	801088317/5000000000000000000000000000000000000000000	femtoelectronvolts	feV
peV	energy	801088317/5000000000000000000000000000000000000000	picoelectronvolt;picoelectronvolts	
neV	energy	801088317/5000000000000000000000000000000000000	nanoelectronvolt;nanoelectronvolts	
ueV	energy	801088317/5000000000000000000000000000000000	microelectronvolt;microelectronvolts	
meV	energy	801088317/5000000000000000000000000000000	millielectronvolt;millielectronvolts	
centielectronvolt	energy	801088317/500000000000000000000000000000	centielectronvolts	ceV
decielectronvolt	energy	801088317/50000000000000000000000000000	decielectronvolts	deV
decaelectronvolt	energy	801088317/500000000000000000000000000	decaelectronvolts	daeV
hectoelectronvolt	energy	801088317/50000000000000000000000000	hectoelectronvolts	heV
keV	energy	801088317/5000000000000000000000000	kiloelectronvolt;kiloelectronvolts;kilo electron volt	KiloEV;B29
MeV	energy	801088317/5000000000000000000000	megaelectronvolt;megaelectronvolts;mega electron volt	MegaEV;B71
GeV	energy	801088317/5000000000000000000	gigaelectronvolt;gigaelectronvolts;giga electron volt	GigaEV;A85
TeV	energy	801088317/5000000000000000	teraelectronvolt;teraelectronvolts	
petaelectronvolt	energy	801088317/5000000000000	petaelectronvolts	PeV
exaelectronvolt	energy	801088317/5000000000	exaelectronvolts	EeV
zettaelectronvolt	energy	801088317/5000000	zettaelectronvolts	ZeV
yottaelectronvolt	energy	801088317/5000	yottaelectronvolts	YeV
ronnaelectronvolt	energy	801088317/5	ronnaelectronvolts	ReV
quettaelectronvolt	energy	160217663400	quettaelectronvolts	QeV
quectowatt hour	energy	9/2500000000000000000000000000	quectowatthour;quectowatt hours;quectowatthours	qWh
rontowatt hour	energy	9/2500000000000000000000000	rontowatthour;rontowatt hours;rontowatthours	rWh
yoctowatt hour	energy	9/2500000000000000000000	yoctowatthour;yoctowatt hours;yoctowatthours	yWh
zeptowatt hour	energy	9/2500000000000000000	zeptowatthour;zeptowatt hours;zeptowatthours	zWh
attowatt hour	energy	9/2500000000000000	attowatthour;attowatt hours;attowatthours	aWh
femtowatt hour	energy	9/2500000000000	femtowatthour;femtowatt hours;femtowatthours	fWh
pWh	energy	9/2500000000	picowatt hour;picowatthour;picowatt hours;picowatthours	
nWh	energy	9/2500000	nanowatt hour;nanowatthour;nanowatt hours;nanowatthours	
uWh	energy	9/2500	microwatt hour;microwatthour;microwatt hours;microwatthours	
mWh	energy	18/5	milliwatt hour;milliwatthour;milliwatt hours;milliwatthours	
centiwatt hour	energy	36	centiwatthour;centiwatt hours;centiwatthours	cWh
deciwatt hour	energy	360	deciwatthour;deciwatt hours;deciwatthours	dWh
decawatt hour	energy	36000	decawatthour;decawatt hours;decawatthours	daWh
hectowatt hour	energy	360000	hectowatthour;hectowatt hours;hectowatthours	hWh
GWh	energy	3600000000000	gigawatt hour;gigawatthour;gigawatt hours;gigawatthours;GW.h	GigaW-HR;GWH
TWh	energy	3600000000000000	terawatt hour;terawatthour;terawatt hours;terawatthours;TW.h	TeraW-HR;D32
petawatt hour	energy	3600000000000000000	petawatthour;petawatt hours;petawatthours	PWh
exawatt hour	energy	3600000000000000000000	exawatthour;exawatt hours;exawatthours	EWh
zettawatt hour	energy	3600000000000000000000000	zettawatthour;zettawatt hours;zettawatthours	ZWh
yottawatt hour	energy	3600000000000000000000000000	yottawatthour;yottawatt hours;yottawatthours	YWh
ronnawatt hour	energy	3600000000000000000000000000000	ronnawatthour;ronnawatt hours;ronnawatthours	RWh
quettawatt hour	energy	3600000000000000000000000000000000	quettawatthour;quettawatt hours;quettawatthours	QWh
quectovoltampere	apparent power	1/1000000000000000000000000000000	quectovolt ampere;quectovoltamperes;quectovolt amperes	qVA
rontovoltampere	apparent power	1/1000000000000000000000000000	rontovolt ampere;rontovoltamperes;rontovolt amperes	rVA
yoctovoltampere	apparent power	1/1000000000000000000000000	yoctovolt ampere;yoctovoltamperes;yoctovolt amperes	yVA
zeptovoltampere	apparent power	1/1000000000000000000000	zeptovolt ampere;zeptovoltamperes;zeptovolt amperes	zVA
attovoltampere	apparent power	1/1000000000000000000	attovolt ampere;attovoltamperes;attovolt amperes	aVA
femtovoltampere	apparent power	1/1000000000000000	femtovolt ampere;femtovoltamperes;femtovolt amperes	fVA
pVA	apparent power	1/1000000000000	picovoltampere;picovolt ampere;picovoltamperes;picovolt amperes;pico volt ampere	PicoVA
nVA	apparent power	1/1000000000	nanovoltampere;nanovolt ampere;nanovoltamperes;nanovolt amperes;nano volt ampere	NanoVA
uVA	apparent power	1/1000000	microvoltampere;microvolt ampere;microvoltamperes;microvolt amperes;micro volt ampere	MicroVA
mVA	apparent power	1/1000	millivoltampere;millivolt ampere;millivoltamperes;millivolt amperes;milli volt ampere	MilliVA
centivoltampere	apparent power	1/100	centivolt ampere;centivoltamperes;centivolt amperes	cVA
decivoltampere	apparent power	1/10	decivolt ampere;decivoltamperes;decivolt amperes	dVA
decavoltampere	apparent power	10	decavolt ampere;decavoltamperes;decavolt amperes	daVA
hectovoltampere	apparent power	100	hectovolt ampere;hectovoltamperes;hectovolt amperes	hVA
MVA	apparent power	1000000	megavoltampere;megavolt ampere;megavoltamperes;megavolt amperes;mega volt ampere	MegaVA
GVA	apparent power	1000000000	gigavoltampere;gigavolt ampere;gigavoltamperes;gigavolt amperes;giga volt ampere	GigaVA
TVA	apparent power	1000000000000	teravoltampere;teravolt ampere;teravoltamperes;teravolt amperes;tera volt ampere	TeraVA
petavoltampere	apparent power	1000000000000000	petavolt ampere;petavoltamperes;petavolt amperes;PVA;peta volt ampere	PetaVA
exavoltampere	apparent power	1000000000000000000	exavolt ampere;exavoltamperes;exavolt amperes;EVA;exa volt ampere	ExaVA
zettavoltampere	apparent power	1000000000000000000000	zettavolt ampere;zettavoltamperes;zettavolt amperes	ZVA
yottavoltampere	apparent power	1000000000000000000000000	yottavolt ampere;yottavoltamperes;yottavolt amperes	YVA
ronnavoltampere	apparent power	1000000000000000000000000000	ronnavolt ampere;ronnavoltamperes;ronnavolt amperes	RVA
quettavoltampere	apparent power	1000000000000000000000000000000	quettavolt ampere;quettavoltamperes;quettavolt amperes	QVA
quectovar	reactive power	1/1000000000000000000000000000000	quectovars	qvar
rontovar	reactive power	1/1000000000000000000000000000	rontovars	rvar
yoctovar	reactive power	1/1000000000000000000000000	yoctovars	yvar
zeptovar	reactive power	1/1000000000000000000000	zeptovars	zvar
attovar	reactive power	1/1000000000000000000	attovars	avar
femtovar	reactive power	1/1000000000000000	femtovars	fvar
pvar	reactive power	1/1000000000000	picovar;picovars;pico volt ampere reactive	PicoVAR
nvar	reactive power	1/1000000000	nanovar;nanovars;nano volt ampere reactive	NanoVAR
uvar	reactive power	1/1000000	microvar;microvars;micro volt ampere reactive	MicroVAR
mvar	reactive power	1/1000	millivar;millivars;milli volt ampere reactive	MilliVAR
centivar	reactive power	1/100	centivars	cvar
decivar	reactive power	1/10	decivars	dvar
decavar	reactive power	10	decavars	davar
hectovar	reactive power	100	hectovars	hvar
Mvar	reactive power	1000000	megavar;megavars;mega volt ampere reactive	MegaVAR;MAR
Gvar	reactive power	1000000000	gigavar;gigavars;giga volt ampere reactive	GigaVAR
Tvar	reactive power	1000000000000	teravar;teravars;tera volt ampere reactive	TeraVAR
petavar	reactive power	1000000000000000	petavars	Pvar
exavar	reactive power	1000000000000000000	exavars	Evar
zettavar	reactive power	1000000000000000000000	zettavars	Zvar
yottavar	reactive power	1000000000000000000000000	yottavars	Yvar
ronnavar	reactive power	1000000000000000000000000000	ronnavars	Rvar
quettavar	reactive power	1000000000000000000000000000000	quettavars	Qvar
quectovarh	reactive energy	9/2500000000000000000000000000	quectovarhs	qvarh
rontovarh	reactive energy	9/2500000000000000000000000	rontovarhs	rvarh
yoctovarh	reactive energy	9/2500000000000000000000	yoctovarhs	yvarh
zeptovarh	reactive energy	9/2500000000000000000	zeptovarhs	zvarh
attovarh	reactive energy	9/2500000000000000	attovarhs	avarh
femtovarh	reactive energy	9/2500000000000	femtovarhs	fvarh
pvarh	reactive energy	9/2500000000	picovarh;picovarhs	
nvarh	reactive energy	9/2500000	nanovarh;nanovarhs	
uvarh	reactive energy	9/2500	microvarh;microvarhs	
mvarh	reactive energy	18/5	millivarh;millivarhs	
centivarh	reactive energy	36	centivarhs	cvarh
decivarh	reactive energy	360	decivarhs	dvarh
decavarh	reactive energy	36000	decavarhs	davarh
hectovarh	reactive energy	360000	hectovarhs	hvarh
Mvarh	reactive energy	3600000000	megavarh;megavarhs;Mvar.h;mega volt ampere reactive hour	MegaVAR-HR;MAH
Gvarh	reactive energy	3600000000000	gigavarh;gigavarhs	
Tvarh	reactive energy	3600000000000000	teravarh;teravarhs	
petavarh	reactive energy	3600000000000000000	petavarhs	Pvarh
exavarh	reactive energy	3600000000000000000000	exavarhs	Evarh
zettavarh	reactive energy	3600000000000000000000000	zettavarhs	Zvarh
yottavarh	reactive energy	3600000000000000000000000000	yottavarhs	Yvarh
ronnavarh	reactive energy	3600000000000000000000000000000	ronnavarhs	Rvarh
quettavarh	reactive energy	3600000000000000000000000000000000	quettavarhs	Qvarh
quectoampere hour	charge	9/2500000000000000000000000000	quectoamp hour;quectoampere hours;quectoamp hours	qAh
rontoampere hour	charge	9/2500000000000000000000000	rontoamp hour;rontoampere hours;rontoamp hours	rAh
yoctoampere hour	charge	9/2500000000000000000000	yoctoamp hour;yoctoampere hours;yoctoamp hours	yAh
zeptoampere hour	charge	9/2500000000000000000	zeptoamp hour;zeptoampere hours;zeptoamp hours	zAh
attoampere hour	charge	9/2500000000000000	attoamp hour;attoampere hours;attoamp hours	aAh
femtoampere hour	charge	9/2500000000000	femtoamp hour;femtoampere hours;femtoamp hours	fAh
pAh	charge	9/2500000000	picoampere hour;picoamp hour;picoampere hours;picoamp hours	
nAh	charge	9/2500000	nanoampere hour;nanoamp hour;nanoampere hours;nanoamp hours	
uAh	charge	9/2500	microampere hour;microamp hour;microampere hours;microamp hours	
centiampere hour	charge	36	centiamp hour;centiampere hours;centiamp hours	cAh
deciampere hour	charge	360	deciamp hour;deciampere hours;deciamp hours	dAh
decaampere hour	charge	36000	decaamp hour;decaampere hours;decaamp hours	daAh
hectoampere hour	charge	360000	hectoamp hour;hectoampere hours;hectoamp hours	hAh
kAh	charge	3600000	kiloampere hour;kiloamp hour;kiloampere hours;kiloamp hours;kA.h	KiloA-HR;TAH
MAh	charge	3600000000	megaampere hour;megaamp hour;megaampere hours;megaamp hours	
GAh	charge	3600000000000	gigaampere hour;gigaamp hour;gigaampere hours;gigaamp hours	
TAh	charge	3600000000000000	teraampere hour;teraamp hour;teraampere hours;teraamp hours	
petaampere hour	charge	3600000000000000000	petaamp hour;petaampere hours;petaamp hours	PAh
exaampere hour	charge	3600000000000000000000	exaamp hour;exaampere hours;exaamp hours	EAh
zettaampere hour	charge	3600000000000000000000000	zettaamp hour;zettaampere hours;zettaamp hours	ZAh
yottaampere hour	charge	3600000000000000000000000000	yottaamp hour;yottaampere hours;yottaamp hours	YAh
ronnaampere hour	charge	3600000000000000000000000000000	ronnaamp hour;ronnaampere hours;ronnaamp hours	RAh
quettaampere hour	charge	3600000000000000000000000000000000	quettaamp hour;quettaampere hours;quettaamp hours	QAh
quectobyte	data	1/125000000000000000000000000000	quectobytes	qB
rontobyte	data	1/125000000000000000000000000	rontobytes	rB
yoctobyte	data	1/125000000000000000000000	yoctobytes	yB
zeptobyte	data	1/125000000000000000000	zeptobytes	zB
attobyte	data	1/125000000000000000	attobytes	aB
femtobyte	data	1/125000000000000	femtobytes	fB
pB	data	1/125000000000	picobyte;picobytes	
nB	data	1/125000000	nanobyte;nanobytes	
uB	data	1/125000	microbyte;microbytes	
mB	data	1/125	millibyte;millibytes	
centibyte	data	2/25	centibytes	cB
decibyte	data	4/5	decibytes	dB
decabyte	data	80	decabytes	daB
hectobyte	data	800	hectobytes	hB
TB	data	8000000000000	terabyte;terabytes;TBy	TeraBYTE;E35
petabyte	data	8000000000000000	petabytes;PetaBYTE;PBy	PB;E36
exabyte	data	8000000000000000000	exabytes;ExaBYTE;EBy	EB
zettabyte	data	8000000000000000000000	zettabytes	ZB
yottabyte	data	8000000000000000000000000	yottabytes	YB
ronnabyte	data	8000000000000000000000000000	ronnabytes	RB
quettabyte	data	8000000000000000000000000000000	quettabytes	QB
KiB	data	8192	KiBy;kibibyte	KibiBYTE;E64
MiB	data	8388608	MiBy;mebibyte	MebiBYTE;E63
GiB	data	8589934592	GiBy;gibibyte	GibiBYTE;E62
TiB	data	8796093022208	TiBy;tebibyte	TebiBYTE;E61
PiB	data	9007199254740992	pebibyte	PebiBYTE;E60
quectobit	data	1/1000000000000000000000000000000	quectobits	qbit
rontobit	data	1/1000000000000000000000000000	rontobits	rbit
yoctobit	data	1/1000000000000000000000000	yoctobits	ybit
zeptobit	data	1/1000000000000000000000	zeptobits	zbit
attobit	data	1/1000000000000000000	attobits	abit
femtobit	data	1/1000000000000000	femtobits	fbit
pbit	data	1/1000000000000	picobit;picobits	
nbit	data	1/1000000000	nanobit;nanobits	
ubit	data	1/1000000	microbit;microbits	
mbit	data	1/1000	millibit;millibits	
centibit	data	1/100	centibits	cbit
decibit	data	1/10	decibits	dbit
decabit	data	10	decabits	dabit
hectobit	data	100	hectobits	hbit
kbit	data	1000	kilobit;kilobits;KiloBIT	kb;C37
Mbit	data	1000000	megabit;megabits;MegaBIT	Mb;D36
Gbit	data	1000000000	gigabit;gigabits;GigaBIT	Gb;B68
Tbit	data	1000000000000	terabit;terabits;TeraBIT	Tb;E83
petabit	data	1000000000000000	petabits;PetaBIT;Pbit	Pb;E78
exabit	data	1000000000000000000	exabits;ExaBIT;Ebit	Eb
zettabit	data	1000000000000000000000	zettabits	Zbit
yottabit	data	1000000000000000000000000	yottabits	Ybit
ronnabit	data	1000000000000000000000000000	ronnabits	Rbit
quettabit	data	1000000000000000000000000000000	quettabits	Qbit
Kibit	data	1024	Kib;kibibit	KibiBIT;C21
Mibit	data	1048576	Mib;mebibit	MebiBIT;D11
Gibit	data	1073741824	Gib;gibibit	GibiBIT;B30
Tibit	data	1099511627776	Tib;tebibit	TebiBIT
Pibit	data	1125899906842624	Pib;pebibit	PebiBIT
bit/s	data rate	1	bit per second;b/s;bps;bit.s-1	Bd;BIT-PER-SEC;B10
quectobit per second	data rate	1/1000000000000000000000000000000		qbit/s
rontobit per second	data rate	1/1000000000000000000000000000		rbit/s
yoctobit per second	data rate	1/1000000000000000000000000		ybit/s
zeptobit per second	data rate	1/1000000000000000000000		zbit/s
attobit per second	data rate	1/1000000000000000000		abit/s
femtobit per second	data rate	1/1000000000000000		fbit/s
pbit/s	data rate	1/1000000000000	picobit per second	
nbit/s	data rate	1/1000000000	nanobit per second	
ubit/s	data rate	1/1000000	microbit per second	
mbit/s	data rate	1/1000	millibit per second	
centibit per second	data rate	1/100		cbit/s
decibit per second	data rate	1/10		dbit/s
decabit per second	data rate	10		dabit/s
hectobit per second	data rate	100		hbit/s
Gbit/s	data rate	1000000000	gigabit per second;Gb/s;Gbit.s-1	GigaBIT-PER-SEC;B80
Tbit/s	data rate	1000000000000	terabit per second;Tb/s;Tbit.s-1	TeraBIT-PER-SEC;E84
petabit per second	data rate	1000000000000000	Pb/s;Pbit.s-1	Pbit/s;PetaBIT-PER-SEC;E79
exabit per second	data rate	1000000000000000000	Eb/s;Ebit.s-1	Ebit/s;ExaBIT-PER-SEC;E58
zettabit per second	data rate	1000000000000000000000		Zbit/s
yottabit per second	data rate	1000000000000000000000000		Ybit/s
ronnabit per second	data rate	1000000000000000000000000000		Rbit/s
quettabit per second	data rate	1000000000000000000000000000000		Qbit/s
Kibit/s	data rate	1024		
Mibit/s	data rate	1048576		
Gibit/s	data rate	1073741824		
Tibit/s	data rate	1099511627776		
Pibit/s	data rate	1125899906842624		
B/s	data rate	8	byte per second;By.s-1;o/s;octet per second	BYTE-PER-SEC;P93;OCTET-PER-SEC;Q13
quectobyte per second	data rate	1/125000000000000000000000000000		qB/s
rontobyte per second	data rate	1/125000000000000000000000000		rB/s
yoctobyte per second	data rate	1/125000000000000000000000		yB/s
zeptobyte per second	data rate	1/125000000000000000000		zB/s
attobyte per second	data rate	1/125000000000000000		aB/s
femtobyte per second	data rate	1/125000000000000		fB/s
pB/s	data rate	1/125000000000	picobyte per second	
nB/s	data rate	1/125000000	nanobyte per second	
uB/s	data rate	1/125000	microbyte per second	
mB/s	data rate	1/125	millibyte per second	
centibyte per second	data rate	2/25		cB/s
decibyte per second	data rate	4/5		dB/s
decabyte per second	data rate	80		daB/s
hectobyte per second	data rate	800		hB/s
kB/s	data rate	8000	kilobyte per second;kBy.s-1	KiloBYTE-PER-SEC;P94
MB/s	data rate	8000000	megabyte per second;MBy.s-1	MegaBYTE-PER-SEC;P95
GB/s	data rate	8000000000	gigabyte per second;GBy.s-1	GigaBYTE-PER-SEC;E68
TB/s	data rate	8000000000000	terabyte per second	
petabyte per second	data rate	8000000000000000		PB/s
exabyte per second	data rate	8000000000000000000		EB/s
zettabyte per second	data rate	8000000000000000000000		ZB/s
yottabyte per second	data rate	8000000000000000000000000		YB/s
ronnabyte per second	data rate	8000000000000000000000000000		RB/s
quettabyte per second	data rate	8000000000000000000000000000000		QB/s
KiB/s	data rate	8192		
MiB/s	data rate	8388608		
GiB/s	data rate	8589934592		
TiB/s	data rate	8796093022208		
PiB/s	data rate	9007199254740992		
quectocalorie	energy	523/125000000000000000000000000000000	quectocalories	qcal
rontocalorie	energy	523/125000000000000000000000000000	rontocalories	rcal
yoctocalorie	energy	523/125000000000000000000000000	yoctocalories	ycal
zeptocalorie	energy	523/125000000000000000000000	zeptocalories	zcal
attocalorie	energy	523/125000000000000000000	attocalories	acal
femtocalorie	energy	523/125000000000000000	femtocalories	fcal
pcal	energy	523/125000000000000	picocalorie;picocalories	
ncal	energy	523/125000000000	nanocalorie;nanocalories	
ucal	energy	523/125000000	microcalorie;microcalories	
mcal	energy	523/125000	millicalorie;millicalories	
centicalorie	energy	523/12500	centicalories	ccal
decicalorie	energy	523/1250	decicalories	dcal
decacalorie	energy	1046/25	decacalories	dacal
hectocalorie	energy	2092/5	hectocalories	hcal
Mcal	energy	4184000	megacalorie;megacalories	
Gcal	energy	4184000000	gigacalorie;gigacalories;t/lbf;ton energy	TonEnergy
Tcal	energy	4184000000000	teracalorie;teracalories	
petacalorie	energy	4184000000000000	petacalories	Pcal
exacalorie	energy	4184000000000000000	exacalories	Ecal
zettacalorie	energy	4184000000000000000000	zettacalories	Zcal
yottacalorie	energy	4184000000000000000000000	yottacalories	Ycal
ronnacalorie	energy	4184000000000000000000000000	ronnacalories	Rcal
quettacalorie	energy	4184000000000000000000000000000	quettacalories	Qcal
centitonne	mass	10	centitonnes	ct
decitonne	mass	100	decitonnes;DeciTONNE;DeciTON_Metric;deci metric ton	dt;DTN
decatonne	mass	10000	decatonnes	dat
hectotonne	mass	100000	hectotonnes	ht
ronnatonne	mass	1000000000000000000000000000000	ronnatonnes	Rt
quettatonne	mass	1000000000000000000000000000000000	quettatonnes	Qt
quectogram per cubic metre	concentration	1/1000000000000000000000000000000000	quectogram per cubic meter	qg/m3
rontogram per cubic metre	concentration	1/1000000000000000000000000000000	rontogram per cubic meter;quectogram per litre;quectogram per liter	rg/m3;qg/l
yoctogram per cubic metre	concentration	1/1000000000000000000000000000	yoctogram per cubic meter;rontogram per litre;rontogram per liter	yg/m3;rg/l
zeptogram per cubic metre	concentration	1/1000000000000000000000000	zeptogram per cubic meter;yoctogram per litre;yoctogram per liter	zg/m3;yg/l
attogram per cubic metre	concentration	1/1000000000000000000000	attogram per cubic meter;zeptogram per litre;zeptogram per liter	ag/m3;zg/l
femtogram per cubic metre	concentration	1/1000000000000000000	femtogram per cubic meter;attogram per litre;attogram per liter	fg/m3;ag/l
pg/m3	concentration	1/1000000000000000	picogram per cubic metre;picogram per cubic meter;femtogram per litre;femtogram per liter;fg/L;fg.L-1	fg/l;FemtoGM-PER-L
ng/m3	concentration	1/1000000000000	nanogram per cubic metre;nanogram per cubic meter;pg/l;picogram per litre;picogram per liter;pg/L;pg.L-1;ng.m-3;fmol/L;fmol.L-1;femtomole per litre;pmol/m3;pmol.m-3;picomole per cubic metre	PicoGM-PER-L;NanoGM-PER-M3;FemtoMOL-PER-L;PicoMOL-PER-M3
centigram per cubic metre	concentration	1/100000	centigram per cubic meter;ug/dL;ug.dL-1;microgram per decilitre	cg/m3;MicroGM-PER-DeciL
decigram per cubic metre	concentration	1/10000	decigram per cubic meter	dg/m3
decagram per cubic metre	concentration	1/100	decagram per cubic meter;centigram per litre;centigram per liter;mg/dL;mg.dL-1;milligram per decilitre	dag/m3;cg/l;MilliGM-PER-DeciL
hectogram per cubic metre	concentration	1/10	hectogram per cubic meter;decigram per litre;decigram per liter	hg/m3;dg/l
Mg/m3	concentration	1000	megagram per cubic metre;megagram per cubic meter;kg/l;kilogram per litre;kilogram per liter;mol/L;mol.L-1;mole per litre;kg/L;kg.L-1;t/m3;t.m-3;tonne per cubic metre;g/mL;g.mL-1;gram per millilitre;Mg.m-3;g/cm3;g.cm-3;gram per cubic centimetre;kmol/m3;kmol.m-3;kilomole per cubic metre;mol/dm3;mol.dm-3;mole per cubic decimetre;kg/dm3;kg.dm-3;kilogram per cubic decimetre;metric ton per cubic metre	MOL-PER-L;C38;KiloGM-PER-L;B35;TONNE-PER-M3;D41;GM-PER-MilliL;GJ;MegaGM-PER-M3;B72;GM-PER-CentiM3;23;KiloMOL-PER-M3;B46;MOL-PER-DeciM3;C35;KiloGM-PER-DeciM3;B34;TON_Metric-PER-M3
Gg/m3	concentration	1000000	gigagram per cubic metre;gigagram per cubic meter;Mg/l;megagram per litre;megagram per liter;kg/cm3;kg.cm-3;kilogram per cubic centimetre	KiloGM-PER-CentiM3;G31
Tg/m3	concentration	1000000000	teragram per cubic metre;teragram per cubic meter;Gg/l;gigagram per litre;gigagram per liter	
petagram per cubic metre	concentration	1000000000000	petagram per cubic meter;Tg/l;teragram per litre;teragram per liter	Pg/m3
exagram per cubic metre	concentration	1000000000000000	exagram per cubic meter;petagram per litre;petagram per liter	Eg/m3;Pg/l
zettagram per cubic metre	concentration	1000000000000000000	zettagram per cubic meter;exagram per litre;exagram per liter	Zg/m3;Eg/l
yottagram per cubic metre	concentration	1000000000000000000000	yottagram per cubic meter;zettagram per litre;zettagram per liter	Yg/m3;Zg/l
ronnagram per cubic metre	concentration	1000000000000000000000000	ronnagram per cubic meter;yottagram per litre;yottagram per liter	Rg/m3;Yg/l
quettagram per cubic metre	concentration	1000000000000000000000000000	quettagram per cubic meter;ronnagram per litre;ronnagram per liter	Qg/m3;Rg/l
decagram per litre	concentration	10	decagram per liter;g/dL;g.dL-1;gram per decilitre;cmol/L;cmol.L-1;centimole per litre	dag/l;GM-PER-DeciL;CentiMOL-PER-L
hectogram per litre	concentration	100	hectogram per liter	hg/l
quettagram per litre	concentration	1000000000000000000000000000000	quettagram per liter	Qg/l
mol/m2/s	photon flux	1	MOL-PER-M2-SEC;mol/(m2.s);mol.m-2.s-1;mole per square metre second;MOL-PER-M2-SEC-SR;mol/(m2.s.sr);mol.m-2.s-1.sr-1;mole per square metre second steradian	
pmol/m2/s	photon flux	1/1000000000000		
nmol/m2/s	photon flux	1/1000000000	NanoMOL-PER-M2-SEC;nmol/(m2.s);nmol.m-2.s-1;nanomole per square metre second	
mmol/m2/s	photon flux	1/1000	MilliMOL-PER-M2-SEC;mmol/(m2.s);mmol.m-2.s-1;millimole per square metre second	
kmol/m2/s	photon flux	1000		
Mmol/m2/s	photon flux	1000000		
Gmol/m2/s	photon flux	1000000000		
Tmol/m2/s	photon flux	1000000000000		
quectowatt per square metre	irradiance	1/1000000000000000000000000000000	quectowatt per square meter	qW/m2
rontowatt per square metre	irradiance	1/1000000000000000000000000000	rontowatt per square meter	rW/m2
yoctowatt per square metre	irradiance	1/1000000000000000000000000	yoctowatt per square meter	yW/m2
zeptowatt per square metre	irradiance	1/1000000000000000000000	zeptowatt per square meter	zW/m2
attowatt per square metre	irradiance	1/1000000000000000000	attowatt per square meter	aW/m2
femtowatt per square metre	irradiance	1/1000000000000000	femtowatt per square meter	fW/m2
pW/m2	irradiance	1/1000000000000	picowatt per square metre;picowatt per square meter;pW.m-2	PicoW-PER-M2;C76
nW/m2	irradiance	1/1000000000	nanowatt per square metre;nanowatt per square meter;nW.m-2	NanoW-PER-M2
uW/m2	irradiance	1/1000000	microwatt per square metre;microwatt per square meter;uW.m-2	MicroW-PER-M2;D85
mW/m2	irradiance	1/1000	milliwatt per square metre;milliwatt per square meter;mW.m-2;ERG-PER-CentiM2-SEC;erg/(cm2.s);erg.cm-2.s-1;erg per square centimetre second	MilliW-PER-M2;C32;A65
centiwatt per square metre	irradiance	1/100	centiwatt per square meter	cW/m2
deciwatt per square metre	irradiance	1/10	deciwatt per square meter	dW/m2
decawatt per square metre	irradiance	10	decawatt per square meter	daW/m2
hectowatt per square metre	irradiance	100	hectowatt per square meter	hW/m2
kW/m2	irradiance	1000	kilowatt per square metre;kilowatt per square meter;kW.m-2	KiloW-PER-M2
MW/m2	irradiance	1000000	megawatt per square metre;megawatt per square meter	
GW/m2	irradiance	1000000000	gigawatt per square metre;gigawatt per square meter	
TW/m2	irradiance	1000000000000	terawatt per square metre;terawatt per square meter	
petawatt per square metre	irradiance	1000000000000000	petawatt per square meter	PW/m2
exawatt per square metre	irradiance	1000000000000000000	exawatt per square meter	EW/m2
zettawatt per square metre	irradiance	1000000000000000000000	zettawatt per square meter	ZW/m2
yottawatt per square metre	irradiance	1000000000000000000000000	yottawatt per square meter	YW/m2
ronnawatt per square metre	irradiance	1000000000000000000000000000	ronnawatt per square meter	RW/m2
quettawatt per square metre	irradiance	1000000000000000000000000000000	quettawatt per square meter	QW/m2
quectosiemens per metre	conductivity	1/1000000000000000000000000000000	quectosiemens per meter	qS/m
rontosiemens per metre	conductivity	1/1000000000000000000000000000	rontosiemens per meter	rS/m
yoctosiemens per metre	conductivity	1/1000000000000000000000000	yoctosiemens per meter	yS/m
zeptosiemens per metre	conductivity	1/1000000000000000000000	zeptosiemens per meter	zS/m
attosiemens per metre	conductivity	1/1000000000000000000	attosiemens per meter	aS/m
femtosiemens per metre	conductivity	1/1000000000000000	femtosiemens per meter	fS/m
pS/m	conductivity	1/1000000000000	picosiemens per metre;picosiemens per meter;pS.m-1	PicoS-PER-M;L42
nS/m	conductivity	1/1000000000	nanosiemens per metre;nanosiemens per meter;nS.m-1	NanoS-PER-M;G45
uS/m	conductivity	1/1000000	microsiemens per metre;microsiemens per meter;uS.m-1	MicroS-PER-M;G43
mS/m	conductivity	1/1000	millisiemens per metre;millisiemens per meter;mS.m-1	MilliS-PER-M
centisiemens per metre	conductivity	1/100	centisiemens per meter	cS/m
decasiemens per metre	conductivity	10	decasiemens per meter;decisiemens per centimetre;decisiemens per centimeter	daS/m;dS/cm
hectosiemens per metre	conductivity	100	hectosiemens per meter;S/cm;siemens per centimetre;siemens per centimeter;S.cm-1	hS/m;S-PER-CentiM;H43
kS/m	conductivity	1000	kilosiemens per metre;kilosiemens per meter;decasiemens per centimetre;decasiemens per centimeter;kS.m-1	daS/cm;KiloS-PER-M;B54
MS/m	conductivity	1000000	megasiemens per metre;megasiemens per meter;MS.m-1	MegaS-PER-M;B77
GS/m	conductivity	1000000000	gigasiemens per metre;gigasiemens per meter;S_Ab;absiemen	aS;GS
TS/m	conductivity	1000000000000	terasiemens per metre;terasiemens per meter	
petasiemens per metre	conductivity	1000000000000000	petasiemens per meter	PS/m
exasiemens per metre	conductivity	1000000000000000000	exasiemens per meter	ES/m
zettasiemens per metre	conductivity	1000000000000000000000	zettasiemens per meter	ZS/m
yottasiemens per metre	conductivity	1000000000000000000000000	yottasiemens per meter	YS/m
ronnasiemens per metre	conductivity	1000000000000000000000000000	ronnasiemens per meter	RS/m
quettasiemens per metre	conductivity	1000000000000000000000000000000	quettasiemens per meter	QS/m
quectosiemens per centimetre	conductivity	1/10000000000000000000000000000	quectosiemens per centimeter	qS/cm
rontosiemens per centimetre	conductivity	1/10000000000000000000000000	rontosiemens per centimeter	rS/cm
yoctosiemens per centimetre	conductivity	1/10000000000000000000000	yoctosiemens per centimeter	yS/cm
zeptosiemens per centimetre	conductivity	1/10000000000000000000	zeptosiemens per centimeter	zS/cm
attosiemens per centimetre	conductivity	1/10000000000000000	attosiemens per centimeter	aS/cm
femtosiemens per centimetre	conductivity	1/10000000000000	femtosiemens per centimeter	fS/cm
pS/cm	conductivity	1/10000000000	picosiemens per centimetre;picosiemens per centimeter	
nS/cm	conductivity	1/10000000	nanosiemens per centimetre;nanosiemens per centimeter;nS.cm-1	NanoS-PER-CentiM;G44
hectosiemens per centimetre	conductivity	10000	hectosiemens per centimeter	hS/cm
kS/cm	conductivity	100000	kilosiemens per centimetre;kilosiemens per centimeter	
MS/cm	conductivity	100000000	megasiemens per centimetre;megasiemens per centimeter	
GS/cm	conductivity	100000000000	gigasiemens per centimetre;gigasiemens per centimeter	
TS/cm	conductivity	100000000000000	terasiemens per centimetre;terasiemens per centimeter	
petasiemens per centimetre	conductivity	100000000000000000	petasiemens per centimeter	PS/cm
exasiemens per centimetre	conductivity	100000000000000000000	exasiemens per centimeter	ES/cm
zettasiemens per centimetre	conductivity	100000000000000000000000	zettasiemens per centimeter	ZS/cm
yottasiemens per centimetre	conductivity	100000000000000000000000000	yottasiemens per centimeter	YS/cm
ronnasiemens per centimetre	conductivity	100000000000000000000000000000	ronnasiemens per centimeter	RS/cm
quettasiemens per centimetre	conductivity	100000000000000000000000000000000	quettasiemens per centimeter	QS/cm
Sv/h	dose rate	1/3600	sievert per hour	
quectosievert per hour	dose rate	1/3600000000000000000000000000000000		qSv/h
rontosievert per hour	dose rate	1/3600000000000000000000000000000		rSv/h
yoctosievert per hour	dose rate	1/3600000000000000000000000000		ySv/h
zeptosievert per hour	dose rate	1/3600000000000000000000000		zSv/h
attosievert per hour	dose rate	1/3600000000000000000000		aSv/h
femtosievert per hour	dose rate	1/3600000000000000000		fSv/h
pSv/h	dose rate	1/3600000000000000	picosievert per hour	
nSv/h	dose rate	1/3600000000000	nanosievert per hour	
mSv/h	dose rate	1/3600000	millisievert per hour	
centisievert per hour	dose rate	1/360000		cSv/h
decisievert per hour	dose rate	1/36000		dSv/h
decasievert per hour	dose rate	1/360		daSv/h
hectosievert per hour	dose rate	1/36		hSv/h
kSv/h	dose rate	5/18	kilosievert per hour	
MSv/h	dose rate	2500/9	megasievert per hour	
GSv/h	dose rate	2500000/9	gigasievert per hour	
TSv/h	dose rate	2500000000/9	terasievert per hour	
petasievert per hour	dose rate	2500000000000/9		PSv/h
exasievert per hour	dose rate	2500000000000000/9		ESv/h
zettasievert per hour	dose rate	2500000000000000000/9		ZSv/h
yottasievert per hour	dose rate	2500000000000000000000/9		YSv/h
ronnasievert per hour	dose rate	2500000000000000000000000/9		RSv/h
quettasievert per hour	dose rate	2500000000000000000000000000/9		QSv/h
Gy/h	absorbed dose rate	1/3600	gray per hour;Sv.h-1;Gy.h-1	Sv/h;sievert per hour;SV-PER-HR;P70;GRAY-PER-HR;P61
quectogray per hour	absorbed dose rate	1/3600000000000000000000000000000000		qGy/h
rontogray per hour	absorbed dose rate	1/3600000000000000000000000000000		rGy/h
yoctogray per hour	absorbed dose rate	1/3600000000000000000000000000		yGy/h
zeptogray per hour	absorbed dose rate	1/3600000000000000000000000		zGy/h
attogray per hour	absorbed dose rate	1/3600000000000000000000		aGy/h
femtogray per hour	absorbed dose rate	1/3600000000000000000		fGy/h
pGy/h	absorbed dose rate	1/3600000000000000	picogray per hour	
nGy/h	absorbed dose rate	1/3600000000000	nanogray per hour;nSv.h-1;nGy.h-1	nSv/h;nanosievert per hour;NanoSV-PER-HR;P73;NanoGRAY-PER-HR;P64
uGy/h	absorbed dose rate	1/3600000000	microgray per hour;uSv.h-1;uGy.h-1	uSv/h;microsievert per hour;MicroSV-PER-HR;P72;MicroGRAY-PER-HR;P63
mGy/h	absorbed dose rate	1/3600000	milligray per hour;mSv.h-1;mGy.h-1	mSv/h;millisievert per hour;MilliSV-PER-HR;P71;MilliGRAY-PER-HR;P62
centigray per hour	absorbed dose rate	1/360000		cGy/h
decigray per hour	absorbed dose rate	1/36000		dGy/h
decagray per hour	absorbed dose rate	1/360		daGy/h
hectogray per hour	absorbed dose rate	1/36		hGy/h
kGy/h	absorbed dose rate	5/18	kilogray per hour	
MGy/h	absorbed dose rate	2500/9	megagray per hour	
GGy/h	absorbed dose rate	2500000/9	gigagray per hour	
TGy/h	absorbed dose rate	2500000000/9	teragray per hour	
petagray per hour	absorbed dose rate	2500000000000/9		PGy/h
exagray per hour	absorbed dose rate	2500000000000000/9		EGy/h
zettagray per hour	absorbed dose rate	2500000000000000000/9		ZGy/h
yottagray per hour	absorbed dose rate	2500000000000000000000/9		YGy/h
ronnagray per hour	absorbed dose rate	2500000000000000000000000/9		RGy/h
quettagray per hour	absorbed dose rate	2500000000000000000000000000/9		QGy/h
pBq/m3	radioactivity concentration	1/1000000000000		
nBq/m3	radioactivity concentration	1/1000000000	pBq/l	
uBq/m3	radioactivity concentration	1/1000000	nBq/l;nBq/L;nBq.L-1;nanobecquerel per litre	NanoBQ-PER-L
mBq/m3	radioactivity concentration	1/1000	uBq/l;uBq/L;uBq.L-1;microbecquerel per litre	MicroBQ-PER-L
kBq/m3	radioactivity concentration	1000	Bq/l;Bq/L;Bq.L-1;becquerel per litre	BQ-PER-L
MBq/m3	radioactivity concentration	1000000	kBq/l	
GBq/m3	radioactivity concentration	1000000000	MBq/l	
TBq/m3	radioactivity concentration	1000000000000	GBq/l	
TBq/l	radioactivity concentration	1000000000000000		
M72	B alone	1	bel	B
E	charge	801088317/5000000000000000000000000000	[e];elementary charge;ElementaryCharge	e
faraday	charge	964853399/10000		F
R	electric charge per mass	129/500000	roentgen	2C
U	mass	166053878283/100000000000000000000000000000000000000	unified atomic mass unit;dalton;amu;atomic mass unit	u;D43;DA;Da;AMU
Z	Z alone	1	atomic-number	
acre	area	316160658/78125	[acr_br]	AC;ACR
AU	length	149597870700	astronomical-unit	au;ua;A12
CI	radioactivity	37000000000	curie	Ci;CUR
DU	A1E0L-2I0M0H0T0D0	446150334054703/1000000000000000000	dobson unit	
FA	solid angle	62831853/5000000	fractional area	fa
FC	illuminance	2691/250	foot candle	fc;P27
FR	charge	8339102379953801239389417861873/25000000000000000000000000000000000000000	franklin;statC;statcoulomb	Fr;N94;C_Stat
GI	current	159154943/200000000	gilbert;Oe.cm;oersted centimetre	Gb;N97;OERSTED-CentiM
GR	GR alone	1	grade	gr
HK	luminous intensity	23/25	hefner-kerze;CD_IT;international candle	P35;P36
IU	IU alone	1	[IU];international unit	
K2	temperature variance	1	square kelvin;DEG_C2;°C2;Cel2;square degree celsius	
kayser	inverse length	100	PER-CentiM;/cm;cm-1;reciprocal centimetre;cm2/cm3;cm2.cm-3;square centimetre per cubic centimetre	K;Ky;KY;E90;CentiM2-PER-CentiM3
P30	luminance	15915494309/5000000	Lmb;lambert	L;LA
LY	length	9460730472580800	[ly];light year	ly;B57
M4	second axial moment of area	1	quartic metre	m4;B83
M5	section area integral	1	quintic metre	m5
M6	warping constant	1	sextic metre	m6
MO	time	2551442976000	month;MO-PER-NUM;mo/#;mo.{#}-1;month per number;MO_Synodic;mo{synodic};mo_s;synodic month	mo;MON
MX	magnetic flux	1/100000000	maxwell;abV.s;10.nV.s;abvolt second	Mx;B65;V_Ab-SEC
NP	NP alone	1	neper	Np;C50
acidity	PH alone	1	[pH]	pH;PH
PT	length	17573/50000000	[pnt];point	pt;N3
shake	time	1/100	10.ns;cP/bar;cP.bar-1;centipoise per bar;mPa.s/bar;mPa.s.bar-1;millipascal second per bar	SH;M56;CentiPOISE-PER-BAR;J74;MilliPA-SEC-PER-BAR;L16
SR	solid angle	1	steradian	sr;D27
ST	area per time	1/10000	stokes;cm2/s;cm2.s-1;square centimetre per second	St;91;CentiM2-PER-SEC;M81
YR	time	31557600000000	year;YR-PER-NUM;a/#;a.{#}-1;year per number;YR_Metrology;y (metrology);metrology year	a;yr;ANN
ARE	area	100	are	a;ar
AWG	AWG alone	1	american wire gage	
ban	data	3115643/937902		BAN;Q15
bbl	volume	9936705933/62500000000	[bbl_us];barrel;BBL_US_PET;barrel (us petroleum)	BBL;BLL;bbl{US petroleum}
Bft	BFT alone	1	beaufort	BFT;M19
C.m	electric dipole moment	1	coulomb metre	C-M;A26
clo	thermal insulance	31/200		CLO;J83
cup	volume	946353/4000000000	[cup_us];us liquid cup	CUP;G21
cycle	count	1	one;BEAT;beat;CASES;cases;COUNT;count;frame;INDIV;individual;BREATH;breath;DEATHS;deaths;SAMPLE;sample;PIXEL_COUNT;pixel (count)	CYC;ONE;C62;FRAME
DPI	inverse length	123031496062992125984251968503937/3125000000000000000000000000000	{dot}/[in_i];dots per inch	E39
dwt	mass	19439673/12500000000	[pwt_tr];penny weight;pennyweight	DWT;PENNYWEIGHT
dyn	force	1/100000	dyne;erg/cm;erg.cm-1;erg per centimetre	DYN;DU;ERG-PER-CentiM;A58
ENZ	catalytic activity	16667/1000000000000	enzyme unit	U
erg	energy	1/10000000		ERG;A57
E_h	energy	217987197/50000000000000000000000000	hartree	Ha
BDFT	volume	18435447/7812500000	[bf_i];board foot	FBM;BFT
ft2	area	145161/1562500	[ft_i]2;square foot	FT2;FTK
ft4	second axial moment of area	21071715921/2441406250000	[ft_i]4;quartic foot	FT4;N27
furlong	length	792000/3937	[fur_us]	FUR;M50
gon	angle	31415926535897932384626433832795028841971693993751/2000000000000000000000000000000000000000000000000000	grad	GON;A91;GRAD
in2	area	16129/25000000	[in_i]2;square inch	IN2;INK
in3	volume	2048383/125000000000	[in_i]3;cubic inch	IN3;INQ
in4	second axial moment of area	260144641/625000000000000	[in_i]4;quartic inch	IN4;D69
K.m	length temperature	1	kelvin metre;m.K;metre kelvin	K-M;M-K;D18
kat	catalytic activity	1	katal;mol/s;mol.s-1;mole per second	KAT;MOL-PER-SEC;E95
mi2	area	40468564224/15625	[mi_i]2;square international mile	MI2;M48;MIK
mi3	volume	8140980127813632/1953125	[mi_i]3;cubic international mile;cubic imperial mile	MI3;M69;MI_UK3
N.m	torque	1	newton metre	N-M;NU
nat	data	1206321/836158	erlang	NAT;Q16;E;ERLANG;Q11
NCM	NCM alone	1	normal cubic metre	
NTU	NTU alone	1	nephelometry turbidity unit	
NUM	ratio	1	{#};number;K/K;K.K-1;kelvin per kelvin;L/L;L.L-1;litre per litre;V/V;V.V-1;volt per volt;FRACTION;{fraction};fraction;UNITLESS;unitless;g/g;g.g-1;gram per gram;lbm/lbm;[lb_av].[lb_av]-1;pound mass per pound mass;m2/m2;m2.m-2;square metre per square metre;m3/m3;m3.m-3;cubic metre per cubic metre;bar/bar;bar.bar-1;bar per bar;mol/mol;mol.mol-1;mole per mole;one/one;one per one;psi/psi;[psi].[psi]-1;psi per psi;kg/kg;kg.kg-1;kilogram per kilogram;cm3/cm3;cm3.cm-3;cubic centimetre per cubic centimetre;%/%;%.%-1;percent per percent	#;K-PER-K;F02;L-PER-L;K62;V-PER-V;÷;一;C62;GM-PER-GM;LB-PER-LB;M91;M2-PER-M2;M3-PER-M3;H60;BAR-PER-BAR;J56;MOL-PER-MOL;ONE-PER-ONE;Q26;PSI-PER-PSI;L52;KiloGM-PER-KiloGM;3H;CentiM3-PER-CentiM3;PERCENT-PER-PERCENT
octave	OCT alone	1	oct	OCT;C59
Osmol	OSM alone	1	osmole	OSM
PCA	length	42333/10000000	[pca];pica	pc;R1
pdl	force	17281869297/125000000000	[lb_av].[ft_i].s-2;poundal	PDL;M76
ppq	ratio	1/1000000000000000	[ppq];part per quadrillion;pg/kg;pg.kg-1;picogram per kilogram	PPQ;PicoGM-PER-KiloGM
ppt	ratio	1/1000000000000	[ppt];part per trillion;pg/g;pg.g-1;picogram per gram;ng/kg;ng.kg-1;nanogram per kilogram;um3/mL;um3.mL-1;cubic micrometre per millilitre	PPT;NX;PicoGM-PER-GM;NanoGM-PER-KiloGM;L32;MicroM3-PER-MilliL
PSU	PSU alone	1	practical salinity unit	
rev	angle	31415926535897932384626433832795028841971693993751/5000000000000000000000000000000000000000000000000	revolution	REV;M44
rhe	fluidity	10	%/cP;%.cP-1;percent per centipoise;PERCENT-PER-MilliPA-SEC;%/(mPa.s);%.mPa-1.s-1;percent per millipascal second	RHE;P88;PERCENT-PER-CentiPOISE
rod	length	19800/3937	[rd_br]	ROD;F49
RPK	RPK alone	1	reads per kilobase	
scf	amount of substance	11981/10000	standard cubic foot	SCF
scm	amount of substance	84621/2000	standard cubic metre	SCM;SCM_1ATM_0DEG_C
sone	SON alone	1		SON;D15
SPF	SPF alone	1	sun protection factor	
T.m	magnetic vector potential	1	tesla metre;N/A;N.A-1;newton per ampere;Wb/m;Wb.m-1;weber per metre;V.s/m;V.s.m-1;volt second per metre	T-M;N-PER-A;H40;WB-PER-M;D59;V-SEC-PER-M;H45
TEN	count	10	ten	
tex	mass per length	1/1000000	g/km;g.km-1;gram per kilometre;mg/m;mg.m-1;milligram per metre	TEX;D34;GM-PER-KiloM;MilliGM-PER-M;C12
toe	energy	41868000000	ton of oil equivalent	TOE
TON	mass	45359237/50000	ston_av;ton;TON_US;ton{US};[ston_av];ton (us);TON_SHORT;ton{short};short ton	tn;t;TNE;STN
tsp	volume	157725491/32000000000000	[tsp_us];teaspoon	TSP;G25
V.m	electric flux	1	volt metre	V-M
yd2	area	1306449/1562500	[yd_i]2;square yard	YD2;YDK
yd3	volume	1493271207/1953125000	[yd_i]3;cubic yard	YD3;YDQ
A.m2	magnetic area moment	1	ampere square metre;J/T;J.T-1;joule per tesla	A-M2;A5;J-PER-T;Q10
BARN	area	1/10000000000000000000000000000	barn;b/sr;b.sr-1;barn per steradian	b;A14;BARN-PER-SR;A17
BAUD	BAUD alone	1	baud	Bd;J38
C.m2	electric quadrupole moment	1	coulomb square metre	C-M2
cord	volume	884901456/244140625	[crd_us]	CORD;M68;WCD
DEG2	solid angle	986960440108935861883449099987615113531369940724075405214910405332408498748925226762673768427050001/3240000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	deg2;square degree	°2
fathom	length	7200/3937	[fth_i]	FATH;AK
GM_F	force	196133/20000000	gram force;POND;pond	gf;p;M78
Hart	data	325147/97879	hartley	HART;Q15
J.m2	total atomic stopping power	1	joule square metre	J-M2;D73
lbf	force	8896443230521/2000000000000	[lbf_av];pound force;lbf.in/in;[lbf_av].[in_i].[in_i]-1;pound force inch per inch	LB_F;C78;LB_F-IN-PER-IN;P90
lbt	mass	58319019/156250000	[lb_tr];pound troy	LB_T;LBT
m2.K	area temperature	1	square metre kelvin	M2-K
Mach	MACH alone	1	mach	MACH
mesh	MESH alone	1	[mesh_i]	MESH;57
nmi	length	1852	[nmi_i];nautical mile	MI_N;NMI
MOHM	einstein coefficients	1000		mohm
N.m2	thermal energy length	1	newton square metre	N-M2
OKTA	OKTA alone	1	okta	
ozf	force	8896443230521/32000000000000	[ozf_av];imperial ounce force	OZ_F;L40
Pa.m	energy per area	1	pascal metre;N/m;N.m-1;newton per metre;J/m2;J.m-2;joule per square metre;N.m/m2;N.m.m-2;newton metre per square metre;W.s/m2;W.s.m-2;watt second per square metre;kg/s2;kg.s-2;kilogram per square second	PA-M;N-PER-M;4P;J-PER-M2;B13;N-M-PER-M2;H86;W-SEC-PER-M2;KiloGM-PER-SEC2
phon	PHON alone	1		PHON;C69
PHOT	illuminance	10000	phot	ph;P26
PINT	volume	454609/800000000	[pt_br];imperial pint;PINT_UK;pt{UK};pint (uk)	pt;PTI
PPTM	ratio	1/10000000	parts per ten million	
quad	energy	1055055852620000000		QUAD;N70
rayl	mass per area time	10	dyn.s/cm3;dyn.s.cm-3;dyne second per cubic centimetre	RAYL;DYN-SEC-PER-CentiM3;A50
SEC2	square time	1	square second	s2
slug	mass	8896443230521/609600000000		SLUG;F13
tbsp	volume	473176473/32000000000000	Tbl;Tblsp;Tbsp;tblsp;[tbs_us];tablespoon	TBSP;G24
Torr	pressure	20265/152		torr;TORR;UA
abT	magnetic flux density	1/10000	abtesla;gauss	T_Ab;Gs;G;GAUSS;76
abV	voltage	1/100000000	10.nV;abvolt	V_Ab
W.m2	power area	1	watt square metre;W.m2/sr;W.m2.sr-1;watt square metre per steradian	W-M2;Q21;W-M2-PER-SR
Wb.m	magnetic dipole moment	1	weber metre;N.m2/A;N.m2.A-1;newton square metre per ampere	WB-M;P50;N-M2-PER-A;P49
A.min	charge	60	ampere minute	A-MIN;N95
acre.ft	volume	60228605349/48828125	[acr_br].[ft_i];acre foot	AC-FT
ATM_T	pressure	196133/2	att;technical atmosphere;kgf/cm2;kgf.cm-2;kilo gram force per square centimetre	at;ATT;KiloGM_F-PER-CentiM2;E42
BU_UK	volume	454609/12500000	bsh{UK};[bu_br];bushel (uk)	BUI
BU_US	volume	220244188543/6250000000000	bu{US};[bu_us];bushel (us);BU_US_DRY;bsh{US};bushel (us dry)	bu;BUA
CARAT	mass	1/5000	[car_m];carat	ct;CTM
CHAIN	length	79200/3937	[ch_br];chain	ch;X1
DARCY	area	1/1013250000000	darcy	d
DEBYE	electric dipole moment	83391/25000000000000000000000000000000000	debye	D
dyn.m	torque	1/100000	dyne metre	DYN-M;M97
daK	temperature	10		decakelvin;DecaK
DeciB	DeciB alone	1		dB;decibel;2N
eV.m2	total atomic stopping power	801088317/5000000000000000000000000000	electron volt square metre	EV-M2;A55
FLOPS	computing speed	1	floating point operations per second	
ftHg	pressure	2031833/50	[ft_i'Hg];foot of mercury	FT_HG;K25
FT_US	length	1524003/5000000	ft{US Survey};[ft_us];us survey foot	M51
GI_UK	volume	1420653/10000000000	gill{UK};[gil_br];gill (uk)	GII
GI_US	volume	473176473/4000000000000	gill{US};[gil_us];gill (us)	GIA
GRAIN	mass	6479891/100000000000	gr{UK};[gr];grain	GRN
IN_HG	pressure	3386389/1000	in_Hg;[in_i'Hg];inch of mercury	inHg;F79
J.s	angular impulse	1	joule second;N.m.s;newton metre second;N.m.s/rad;N.m.s.rad-1;newton metre second per radian;kg.m2/s;kg.m2.s-1;kilogram square metre per second	J-SEC;B18;N-M-SEC;C53;N-M-SEC-PER-RAD;KiloGM-M2-PER-SEC;B33
K.d	time temperature	86400	kelvin day;DEG_C-DAY;°C.d;Cel.d;degree celsius day;GDD;degree celsius growing cereal day	K-DAY;DEG_C_GROWING_CEREAL-DAY
K.s	time temperature	1	kelvin second	K-SEC
kip	force	2224110807630249999999999999999999/500000000000000000000000000000	k[lbf_av]	KIP_F;M75
KiloR	electric charge per mass	129/500	kiloroentgen	kR;KR
ft-L	luminance	3426259099594588078065045018978927/1000000000000000000000000000000000	[ft-Lmb];foot lambert	LA_FT;P29
lbm.in	length mass	5760623099/500000000000	[lb_av].[in_i];pound mass inch	LB-IN;IA
lm.h	luminous energy	3600	lumen hour	LM-HR;B59
m.s	thruster power to thrust efficiency	1	metre second;KiloGM-PER-SEC-PA;kg/(s.Pa);kg.s-1.Pa-1;kilogram per second pascal	M-SEC;M87
m2.Hz	area per time	1	square metre hertz;m2/s;m2.s-1;square metre per second	M2-HZ;M2-PER-SEC;S4
MI_US	length	1609347219/1000000	mi{US};[mi_us];us survey mile	M52
mol.K	temperature amount of substance	1	mole kelvin;MOL-DEG_C;mol.°C;mol.Cel;mole degree celsius	MOL-K
mH20	pressure	196133/20	conventional metre of water	M_H2O;N23
MegaK	temperature	1000000		MK;megakelvin
N.s	linear momentum	1	newton second;N.m.s/m;N.m.s.m-1;newton metre second per metre;N.s/rad;N.s.rad-1;newton second per radian;kg.m/s;kg.m.s-1;kilogram metre per second	N-SEC;C57;N-M-SEC-PER-M;N-SEC-PER-RAD;KiloGM-M-PER-SEC;B31
ohm.m	resistivity	1	Ohm.m;ohm metre;ohm.m2/m;Ohm.m2.m-1;ohm square metre per metre	OHM-M;C61;OHM-M2-PER-M
oz.ft	length mass	17281869297/2000000000000	[oz_av].[ft_i];ounce mass foot	OZ-FT;4R
oz.in	length mass	5760623099/8000000000000	[oz_av].[in_i];ounce mass inch	OZ-IN;4Q
PER-H	reluctance	1	H-1;reciprocal henry	/H;C89
PER-J	inverse energy	1	J-1;reciprocal joule;PER-VA-SEC;/(VA.s);VA-1.s-1;reciprocal volt ampere second	/J;N91
PER-K	thermal expansion coefficient	1	K-1;reciprocal kelvin;PER-DEG_C;/°C;Cel-1;reciprocal degree celsius;M-PER-DEG_C-M;m/(°C.m);m.Cel-1.m-1;metre per degree celsius metre	/K;C91;N83
PER-L	inverse volume	1000	L-1;reciprocal litre;NUM-PER-L;#/L;{#}.L-1;number per litre	/L;K63
PER-M	inverse length	1	m-1;reciprocal metre;DIOPTER;[diop];diopter;m/m2;m.m-2;metre per square metre;PER-M-SR;/(m.sr);m-1.sr-1;reciprocal metre steradian;b/m;bit.m-1;bit per metre;NUM-PER-M;#/m;{#}.m-1;number per metre;rad/m;rad.m-1;radian per metre	/m;C92;D;Q25;M-PER-M2;BIT-PER-M;E88;RAD-PER-M;C84
PER-V	reciprocal voltage	1	V-1;reciprocal volt	/V;P96
pfd	mass	1/2	pfund	PFUND;M86
PK_UK	volume	9092181/1000000000	peck{UK};[pk_br];peck (uk)	L43
POISE	dynamic viscosity	1/10	poise;GM-PER-CentiM-SEC;g/(cm.s);g.cm-1.s-1;gram per centimetre second	P;89;N41
QT_UK	volume	454609/400000000	qt{UK};[qt_br];quart (uk)	QTI
QT_US	volume	473176473/500000000000	qt{US liq};[qt_us];us liquid quart	QT;QTL
STILB	luminance	10000	stilb	sb;P31
T.s	mass per electric charge	1	tesla second	T-SEC
A.s2	A0E1L0I0M0H0T2D0	1	ampere square second	A-SEC2
A2.s	A0E2L0I0M0H0T1D0	1	square ampere second	A2-SEC;H32
ARCMIN	angle	31415926535897932384626433832795028841971693993751/108000000000000000000000000000000000000000000000000000	arcminute;MIN_Angle;minute angle	';D61
ARCSEC	angle	31415926535897932384626433832795028841971693993751/6480000000000000000000000000000000000000000000000000000	arcsecond	";'';D62
statA	current	66712819/200000000000000000	statampere	A_Stat
BBL_US	volume	1589873/10000000	bbl{US petroleum};barrel (us)	bbl;[bbl_us];BLL
BTU_TH	energy	2108700529/2000000	Btu{th};[Btu_th];british thermal unit (thermochemical definition)	
CAL_IT	energy	10467/2500	cal{IT};cal_IT;international table calorie	cal;D70
CUP_US	volume	473176473/2000000000000	cup{US};cup (us)	[cup_us];G21
dec	DECADE alone	1		DECADE;DEC
DENIER	mass per length	1111111111/10000000000000000	[den];denier	D;A49
dm2	area	1/100	square decimetre	DeciM2;DMK
eV.s	angular impulse	801088317/5000000000000000000000000000	electron volt second	EV-SEC
flight	FLIGHT alone	1		FLIGHT
ft.pdl	energy	6584392202157/156250000000000	[ft_i].[lb_av].[ft_i].s-2;foot poundal	FT-PDL;N46
ftH2O	pressure	2989067/1000	ftH20;fth2o;[ft_i'H2O];foot of water;FT_H2O_39dot2DEG_F;ftH2O (39.2 °F);foot of water (39.2 °f)	FT_H2O;K24;N15
GAL_UK	volume	454609/100000000	gal{UK};[gal_br];gallon (uk);GAL_IMP;gal{Imp};imperial gallon	GLI
HP_H2O	power	746043/1000	water hp;horsepower (water)	F80
h.ft2	area time	5225796/15625	h.[ft_i]2;hour square foot	HR-FT2
statH	inductance	898755179000	stathenry	H_Stat
in.pdl	torque	2194797400719/625000000000000	[in_i].[lb_av].[ft_i].s-2;inch poundal;pdl.in;[lb_av].[ft_i].s-2.[in_i];poundal inch	IN-PDL;N47;PDL-IN;M96
inH2O	pressure	2490889/10000	[in_i'H2O];inch of water	IN_H2O;F78
kCi	radioactivity	37000000000000	kilocurie	KiloCI;2R
klbm	mass	45359237/100000	k[lb_av];kilo pound mass	KiloLB
KiloYR	time	31557600000000000	kiloyear	ka
lbm.ft2	moment of inertia	6584392202157/156250000000000	[lb_av].[ft_i]2;pound mass square foot	LB-FT2;K65
lbm.in2	moment of inertia	731599133573/2500000000000000	[lb_av].[in_i]2;pound mass square inch	LB-IN2;F20
lm.s	luminous energy	1	lumen second	LM-SEC;B62
lx.h	luminous exposure	3600	lux hour	LUX-HR;B63
m.s2	A0E0L1I0M0H0T2D0	1	metre square second;kg/Pa;kg.Pa-1;kilogram per pascal	M-SEC2;KiloGM-PER-PA;M74
m2.Hz3	dose rate	1	square metre cubic hertz	M2-HZ3
m2.Hz4	A0E0L2I0M0H0T-4D0	1	square metre quartic hertz	M2-HZ4
MI_US2	area	2589998471303033961/1000000000000	mi{US}2;[mi_us]2;square us survey mile	208
lb-mol	amount of substance	45359237/100000	[mol_lb];pound mole	MOL_LB
MegaYR	time	31557600000000000000	megayear	Ma
MicroG	acceleration	196133/20000000000	u[g];microgravity	uG
MilliK	temperature	1/1000		mK;millikelvin
MilliR	electric charge per mass	129/500000000	milliroentgen	mR;2Y
nm2	area	1/1000000000000000000	square nanometre	NanoM2
Pa.s	dynamic viscosity	1	pascal second;daP;decapoise;N.s/m2;N.s.m-2;newton second per square metre;KiloGM-PER-M-SEC;kg/(m.s);kg.m-1.s-1;kilogram per metre second	PA-SEC;C65;DecaPOISE;N-SEC-PER-M2;N36;N37
PARSEC	length	99731913800000000000000000000000000000000000000000000000000000000/3232091207422229445026428631923523443923250258721	parsec	pc;C63
pdl.ft	torque	6584392202157/156250000000000	[lb_av].[ft_i].s-2.[ft_i];poundal foot	PDL-FT;M95
PER-GM	inverse mass	1000	g-1;reciprocal gram;NUM-PER-GM;#/g;{#}.g-1;number per gram	/g
PER-HR	frequency	1/3600	h-1;reciprocal hour;A-PER-A-HR;A/(A.h);A.A-1.h-1;ampere per ampere hour;NUM-PER-HR;#/h;{#}.h-1;number per hour	/h;H10
PER-IN	inverse length	5000/127	/in;[in_i]-1;reciprocal inch	Q24
PER-J2	inverse square energy	1	/J2;J-2;reciprocal square joule	
PER-LB	inverse mass	100000000/45359237	/lbm;[lb_av]-1;reciprocal pound mass	
PER-M2	area bit density	1	/m2;m-2;reciprocal square metre;b/m2;bit.m-2;bit per square metre;NUM-PER-M2;#/m2;{#}.m-2;number per square metre;um/mL;um.mL-1;micrometre per millilitre	C93;BIT-PER-M2;E89;MicroM-PER-MilliL
PER-M3	inverse volume	1	/m3;m-3;reciprocal cubic metre;b/m3;bit.m-3;bit per cubic metre;NUM-PER-M3;#/m3;{#}.m-3;number per cubic metre;Bq.s/m3;Bq.s.m-3;becquerel second per cubic metre	C86;BIT-PER-M3;BQ-SEC-PER-M3
PER-MO	frequency	489918846612702035163963625264263/1250000000000000000000000000000000000000	/mo;mo-1;reciprocal month	H11
PER-OZ	inverse mass	1600000000/45359237	/oz;[oz_av]-1;reciprocal ounce mass	
PER-PA	compressibility	1	/Pa;Pa-1;reciprocal pascal;m2/N;m2.N-1;square metre per newton	C96;M2-PER-N;H59
PER-SR	PER-SR alone	1	/sr;sr-1;reciprocal steradian	
PER-WB	inverse magnetic flux	1	/Wb;Wb-1;reciprocal weber;A/J;A.J-1;ampere per joule;Hz/V;Hz.V-1;hertz per volt	Q23;A-PER-J;HZ-PER-V
PER-WK	frequency	1/604800	/wk;wk-1;reciprocal week	H85
PER-YR	frequency	1/31557600	a-1;reciprocal year;NUM-PER-YR;#/a;{#}.a-1;number per year	/a;H09
PT_BIG	length	1763889/5000000000	big point	pb;H82
pCi	radioactivity	37/1000	picocurie	PicoCI
statS	conductivity	11126500561/10000000000000000000000	statsiemens;MHO_Stat;stat℧;statmho	S_Stat
THM_US	energy	105480400	thm{US};100000.[Btu_59];therm us;THERM_US;therm (u.s.)	N72
TOR	power	3516853/1000	ton of refrigeration	TON_FG
TON_UK	mass	317514659/312500	ton{UK};[lton_av];ton (uk);TON_LONG;t{long};long ton	LTN
statV	voltage	149896229/500000	statvolt	V_Stat
A/K	electric current per temperature	1	A.K-1;ampere per kelvin;A-PER-DEG_C;A/°C;A.Cel-1;ampere per degree celsius	A-PER-K
A/m	magnetic field strength	1	A.m-1;ampere per metre;AT/m;ampere turn per metre;mA/mm;mA.mm-1;milliampere per millimetre	A-PER-M;AE;AT-PER-M;MilliA-PER-MilliM;F76
B/m	B-PER-M alone	1	B.m-1;bel per metre	B-PER-M;P43
C/m	electric charge line density	1	C.m-1;coulomb per metre	C-PER-M;P10
cm2	area	1/10000	square centimetre	CentiM2;CMK
cm4	second axial moment of area	1/100000000	quartic centimetre	CentiM4
cm6	warping constant	1/1000000000000	sextic centimetre	CentiM6
cSt	area per time	1/1000000	centistokes;mm2/s;mm2.s-1;square millimetre per second	CentiST;4C;MilliM2-PER-SEC;C17
DRAM_UK	mass	19439673/5000000000	dr{UK};[dr_ap];dram (uk)	DRI
DRAM_US	mass	45359237/25600000000	dr{US};fldr;[dr_av];dram (us)	dr;DRA
daa	area	1000	daar;decaare	DecaARE;DAA
dB.W	DeciB-W alone	1	decibel watt	DeciB-W;DBW
DeciB_A	DeciB_A alone	1	decibel with a-weighting	dB(A)
dBc	DeciB_C alone	1	decibel carrier unit	DeciB_C
dBmW	DeciB_M alone	1	decibel referred to 1mw	Bm;DeciB_M;DBM
DeciB_Z	DeciB_Z alone	1	dB(Z);decibel with z-weighting	
dN.m	torque	1/10	decinewton metre	DeciN-M;DN
erg.s	angular impulse	1/10000000	erg second	ERG-SEC
Eib	data	1152921504606846976	exbibit	ExbiBIT
ft.lbf	energy	3389544870828501/2500000000000000	[ft_i].[lbf_av];foot pound force	FT-LB_F;85
Gal	acceleration	1/100	galileo;cm/s2;cm.s-2;centimetre per square second	GALILEO;A76;CentiM-PER-SEC2;M39
H/m	electromagnetic permeability	1	H.m-1;henry per metre	H-PER-M;A98
HUNDRED	count	100	hundred	
J/K	heat capacity	1	J.K-1;joule per kelvin	J-PER-K;JE
K/m	temperature gradient	1	K.m-1;kelvin per metre;DEG_C-PER-M;°C/m;Cel.m-1;degree celsius per metre	K-PER-M
K/T	temperature per magnetic flux density	1	K.T-1;kelvin per tesla	K-PER-T
K/W	thermal resistance	1	K.W-1;kelvin per watt	K-PER-W;B21
kN.m	torque	1000	kilonewton metre	KiloN-M;B48
L/K	volume thermal expansion	1/1000	L.K-1;litre per kelvin	L-PER-K;G28
LANGLEY	energy per area	41840	langley;cal/cm2;cal_th.cm-2;thermochemical calorie per square centimetre	Ly;P40;CAL_TH-PER-CentiM2;P39
lbf.ft	torque	3389544870828501/2500000000000000	[lbf_av].[ft_i];pound force foot	LB_F-FT;M92
lbf.in	torque	1129848290276167/10000000000000000	[lbf_av].[in_i];pound force inch	LB_F-IN;F21
lx.s	luminous exposure	1	lux second	LUX-SEC;B64
m/K	linear thermal expansion	1	m.K-1;metre per kelvin	M-PER-K;F52
MILLION	count	1000000	million;MegaINDIV;million individuals	
MN.m	torque	1000000	meganewton metre	MegaN-M;B74
Mpsi	pressure	222411080763025/32258	M[psi];megapsi	MegaPSI
Mtoe	energy	41868000000000000	mega ton of oil equivalent	MegaTOE
Mtn	mass	907184740	Mston_av;megaton	MegaTON
uCi	radioactivity	37000	microcurie	MicroCI;M5
uin	length	127/5000000000	u[in_i];microinch	MicroIN;M7
um2	area	1/1000000000000	square micrometre	MicroM2;H30
mCi	radioactivity	37000000	millicurie	MilliCI;MCU
mil	length	127/5000000	m[in_i];milliinch;[mil_i];mil length	MilliIN;77;MilLength;MIL_Length
mm2	area	1/1000000	square millimetre	MilliM2;MMK
mm4	second axial moment of area	1/1000000000000	quartic millimetre	MilliM4;G77
N/C	electric field strength	1	N.C-1;newton per coulomb;V/m;V.m-1;volt per metre	N-PER-C;V-PER-M;D50
nkat	catalytic activity	1/1000000000	nanokatal	NanoKAT
OERSTED	magnetic field strength	159154943/2000000	oersted	Oe;66
ozf.in	torque	1129848290276167/160000000000000000	[ozf_av].[in_i];imperial ounce force inch	OZ_F-IN;L41
OZ_TROY	mass	19439673/625000000	oz{Troy};[oz_tr];ounce troy	APZ
Pa2.s	sound exposure	1	square pascal second	PA2-SEC;P42
PER-BAR	compressibility	1/100000	/bar;bar-1;reciprocal bar	F58
PER-DAY	frequency	1/86400	d-1;reciprocal day;MicroMOL-PER-MicroMOL-DAY;umol/(umol.d);umol.umol-1.d-1;micromole per micromole day	/d;E91
PER-EV2	inverse square energy	25000000000000000000000000000000000000000000000000000000/641742491633892489	/eV2;eV-2;reciprocal square electron volt	
PER-FT3	inverse volume	1953125000/55306341	/ft3;[ft_i]-3;reciprocal cubic foot	K20
PER-IN2	area bit density	25000000/16129	/in2;[in_i]-2;reciprocal square inch	P78
PER-IN3	inverse volume	125000000000/2048383	/in3;[in_i]-3;reciprocal cubic inch	K49
PER-M-K	inverse length temperature	1	/(m.K);m-1.K-1;reciprocal metre kelvin	
PER-MIN	frequency	1/60	/min;min-1;reciprocal minute;NUM-PER-MIN;#/min;{#}.min-1;number per minute	C94
PER-MOL	inverse amount of substance	1	/mol;mol-1;reciprocal mole	C95
PER-PSI	compressibility	1290320000/8896443230521	/psi;[psi]-1;reciprocal psi	K93
PER-RAD	PER-RAD alone	1	/rad;rad-1;reciprocal radian	P97
PER-T-M	magnetic reluctivity	1	/(T.m);T-1.m-1;reciprocal tesla metre;M-PER-V-SEC;m/(V.s);m.V-1.s-1;metre per volt second	H58
PER-TON	inverse mass	220462262184877580722973801345027/200000000000000000000000000000000000	/tn;ston_av-1;reciprocal ton	
PER-YD3	inverse volume	1953125000/1493271207	/yd3;[yd_i]-3;reciprocal cubic yard	M10
PERM_US	vapour permeance	114427/2000000000000000	perm{US};u.s.perm	
PINT_US	volume	473176473/1000000000000	pt{US};[pt_us];us liquid pint	pt;PT;PTL
PPT_VOL	PPT_VOL alone	1/1000000000000	ppt (volume);[pptr]{vol};parts per trillion by volume	
pkat	catalytic activity	1/1000000000000	picokatal	PicoKAT
s.ft2	area time	145161/1562500	s.[ft_i]2;second square foot	SEC-FT2
THM_EEC	energy	52752792631/500	thm{EEC};100000.[Btu_IT];thm_eec;THERM_EC;thm{EC};therm (ec)	N71
Unknown	UNKNOWN alone	1	unknown	UNKNOWN
V/K	seebeck coefficient	1	V.K-1;volt per kelvin	V-PER-K;D48
W/K	thermal conductance	1	W.K-1;watt per kelvin;VA/K;VA.K-1;volt ampere per kelvin;var/K;var.K-1;volt ampere reactive per kelvin	W-PER-K;D52;VA-PER-K;VAR-PER-K
W/m	lineic power	1	W.m-1;watt per metre;W-M-PER-M2-SR;W.m/(m2.sr);W.m.m-2.sr-1;watt metre per square metre steradian	W-PER-M;H74
A/g	exposure rate	1000	A.g-1;ampere per gram	A-PER-GM
A/m2	electric current density	1	A.m-2;ampere per square metre	A-PER-M2;A41
A/Pa	A0E1L1I0M-1H0T2D0	1	A.Pa-1;ampere per pascal	A-PER-PA;N93
AC-FT_US	volume	240914895636987/195312500000	acre.ft{US Survey};[acr_br].[ft_us];acre us survey foot	
ANGSTROM	length	1/10000000000	angstrom	Å;Å;Ao;A11
BREWSTER	compressibility	1/1000000000000	brewster;NanoM-PER-MilliM-MegaPA;nm/(mm.MPa);nm.mm-1.MPa-1;nanometre per millimetre megapascal	B
BTU_MEAN	energy	105587/100	BTU{mean};[Btu_m];british thermal unit (mean)	J39
BasePair	BasePair alone	1	base pair	bp
C/m2	electric charge per area	1	C.m-2;coulomb per square metre	C-PER-M2;A34
C/m3	electric charge volume density	1	C.m-3;coulomb per cubic metre	C-PER-M3;A29
CAL_MEAN	energy	419/100	cal{mean};cal_m;calorie (mean)	J75
CHAIN_US	length	2011684023/100000000	ch (US survey);chain (based on u.s.survey foot)	M49
CWT_LONG	mass	317514659/6250000	cwt{long};[lcwt_av];long hundred weight	CWI
cN.m	torque	1/100	centinewton metre;N.cm;newton centimetre	CentiN-M;J72;N-CentiM;F88
DEG_C-HR	time temperature	3600	°C.h;Cel.h;degree celsius hour	
DEG_C-WK	time temperature	604800	°C.wk;Cel.wk;degree celsius week	
DEG_F-HR	time temperature	2000	°F.h;[degF].h;degree fahrenheit hour	
eV/K	heat capacity	801088317/5000000000000000000000000000	eV.K-1;electron volt per kelvin	EV-PER-K
eV/m	force	801088317/5000000000000000000000000000	eV.m-1;electron volt per metre	EV-PER-M;A54
eV/T	magnetic area moment	801088317/5000000000000000000000000000	eV.T-1;electron volt per tesla	EV-PER-T
EiB	data	9223372036854775808	exbibyte	ExbiBYTE;E59
GAUGE_FR	length	3333333/10000000000	French gauge;[Ch];french gauge;GA_Charriere;charrière gauge	H79;Ch
g/K	A0E0L0I0M1H-1T0D0	1/1000	g.K-1;gram per kelvin;GM-PER-DEG_C;g/°C;g.Cel-1;gram per degree celsius	GM-PER-K;F14
g/m	mass per length	1/1000	g.m-1;gram per metre;kg/km;kg.km-1;kilogram per kilometre	GM-PER-M;GF;KiloGM-PER-KiloM;M31
GHz.m	speed	1000000000	gigahertz metre;MHz.km;megahertz kilometre	GigaHZ-M;M18;MegaHZ-KiloM;H39
HP_Brake	power	74569987/100000	HP{brake};horsepower (brake)	K42
Hz/K	inverse time temperature	1	Hz.K-1;hertz per kelvin	HZ-PER-K
Hz/T	electric charge per mass	1	Hz.T-1;hertz per tesla;PER-T-SEC;/(T.s);T-1.s-1;reciprocal tesla second;C/kg;C.kg-1;coulomb per kilogram;A-M2-PER-J-SEC;A.m2/(J.s);A.m2.J-1.s-1;ampere square metre per joule second	HZ-PER-T;C-PER-KiloGM;CKG;A10
IU/L	IU-PER-L alone	1	[IU].L-1;international unit per litre	IU-PER-L
J/h	power	1/3600	J.h-1;joule per hour	J-PER-HR;P16
J/m3	energy density	1	J.m-3;joule per cubic metre	J-PER-M3;B8
J/m4	pressure gradient	1	J.m-4;joule per quartic metre;N/m3;N.m-3;newton per cubic metre;Pa/m;Pa.m-1;pascal per metre;KiloGM-PER-M2-SEC2;kg/(m2.s2);kg.m-2.s-2;kilogram per square metre square second	J-PER-M4;B14;N-PER-M3;PA-PER-M;H42
J/T2	energy per square magnetic flux density	1	J.T-2;joule per square tesla	J-PER-T2
K/h	temperature per time	1/3600	K.h-1;kelvin per hour;DEG_C-PER-HR;°C/h;Cel.h-1;degree celsius per hour	K-PER-HR;F10;H12
K/Pa	A0E0L1I0M-1H1T2D0	1	K.Pa-1;kelvin per pascal	K-PER-PA;N79
kBd	KiloBAUD alone	1000	kilobaud	KiloBAUD;K50
kg.K	mass temperature	1	kilogram kelvin	KiloGM-K
kg.m	length mass	1	kilogram metre;m.kg;metre kilogram	KiloGM-M;M94;M-KiloGM
kgf	force	196133/20000	kilo gram force;KiloPOND;kilopond	KiloGM_F;B37;kp;B51
kHz.m	speed	1000	kilohertz metre;km/s;km.s-1;kilometre per second	KiloHZ-M;M17;KiloM-PER-SEC;M62
klbf	force	8896443230521/2000000000	kilo pound force	k[lbf_av];KiloLB_F;M75
kN.m2	thermal energy length	1000	kilonewton square metre	KiloN-M2
L/ha	length	1/10000000	L.har-1;litre per hectare	L-PER-HA
LB-DEG_F	mass temperature	45359237/180000000	lbm.°F;[lb_av].[degF];pound mass degree fahrenheit;LB-DEG_R;lbm.°R;[lb_av].[degR];pound mass degree rankine	
lm/W	luminous efficacy	1	lm.W-1;lumen per watt	LM-PER-W;B61
m/ha	inverse length	1/10000	m.har-1;metre per hectare	M-PER-HA
m/h	speed	1/3600	m.h-1;metre per hour	M-PER-HR;M60
m/Pa	A0E0L2I0M-1H0T2D0	1	m.Pa-1;metre per pascal	M-PER-PA;M53
m/a	speed	1/31557600	m.a-1;metre per year	M-PER-YR
m2/J	spectral angular cross section	1	m2.J-1;square metre per joule;M2-PER-SR-J;m2/(sr.J);m2.sr-1.J-1;square metre per steradian joule	M2-PER-J;D20;D25
m2/K	area thermal expansion	1	m2.K-1;square metre per kelvin	M2-PER-K
m2/W	area per power	1	m2.W-1;square metre per watt	M2-PER-W
m3/C	hall coefficient	1	m3.C-1;cubic metre per coulomb;V/Pa;V.Pa-1;volt per pascal	M3-PER-C;A38;V-PER-PA;N98
m3/K	volume thermal expansion	1	m3.K-1;cubic metre per kelvin	M3-PER-K;G29
cmil	area	202683/400000000000000	[cml_i];circular mil	MIL_Circ;M47
MBd	MegaBAUD alone	1000000	megabaud	MegaBAUD;J54
MHz.m	speed	1000000	megahertz metre	MegaHZ-M;H39
Mlbf	force	8896443230521/2000000	M[lbf_av];mega pound force	MegaLB_F
uatm	pressure	4053/40000	micro standard atmosphere	MicroATM
ukat	catalytic activity	1/1000000	microkatal;umol/s;umol.s-1;micromole per second	MicroKAT;MicroMOL-PER-SEC
uN.m	torque	1/1000000	micronewton metre	MicroN-M;B93
urad	angle	1/1000000	microradian	MicroRAD;B97
mkat	catalytic activity	1/1000	millikatal	MilliKAT
mN.m	torque	1/1000	millinewton metre	MilliN-M;D83
mOsmol	MilliOSM alone	1	milliosmole	MilliOSM
mrad	angle	1/1000	milliradian	MilliRAD;C25
statohm	resistance	898755179000		OHM_Stat
Pa/K	pressure coefficient	1	Pa.K-1;pascal per kelvin;J-PER-M3-K;J/(m3.K);J.m-3.K-1;joule per cubic metre kelvin	PA-PER-K;C64
PER-J-M3	energy density of states	1	/(J.m3);J-1.m-3;reciprocal joule cubic metre	C90
PER-SEC2	angular acceleration	1	/s2;s-2;reciprocal square second;rad/s2;rad.s-2;radian per square second	RAD-PER-SEC2;2B
rayl_MKS	mass per area time	1	rayl_mks;N.s/m3;N.s.m-3;newton second per cubic metre;Pa.s/m;Pa.s.m-1;pascal second per metre;KiloGM-PER-M2-SEC;kg/(m2.s);kg.m-2.s-1;kilogram per square metre second;KiloGM-PER-SEC-M2;kg/(s.m2);kg.s-1.m-2;kilogram per second square metre	RAYL_MKS;N-SEC-PER-M3;PA-SEC-PER-M;C67;H56
St/K	A0E0L2I0M0H-1T-1D0	1/10000	St.K-1;stokes per kelvin	ST-PER-K;G10
standard	volume	584/125	1980.[bf_i]	STANDARD;WSD
Stone_UK	mass	317514659/50000000	st{UK};[stone_av];stone (uk)	STI
THOUSAND	count	1000	thousand;KiloINDIV;thousand individuals	
TON_F_US	force	8896443230521/1000000000	tonf{us};[stonf_av];ton force (us short)	L94
pole	magnetic flux	1256637/10000000000000	unit pole	UnitPole;P53
V/in	electric field strength	5000/127	V.[in_i]-1;volt per inch	V-PER-IN;H23
V/m2	energy per area electric charge	1	V.m-2;volt per square metre	V-PER-M2
W/g	absorbed dose rate	1000	W.g-1;watt per gram;mW/mg;mW.mg-1;milliwatt per milligram	W-PER-GM;MilliW-PER-MilliGM
W/m3	force per area time	1	W.m-3;watt per cubic metre;Pa/s;Pa.s-1;pascal per second;W-PER-M2-M;W/(m2.m);W.m-2.m-1;watt per square metre metre;W-PER-M2-M-SR;W/(m2.m.sr);W.m-2.m-1.sr-1;watt per square metre metre steradian	W-PER-M3;H47;PA-PER-SEC
W/sr	radiant intensity	1	W.sr-1;watt per steradian	W-PER-SR;D57
AT/in	magnetic field strength	123031496062992125984251968503937/3125000000000000000000000000000	ampere turn per inch	AT-PER-IN
atm/m	pressure gradient	101325	atm.m-1;standard atmosphere per metre	ATM-PER-M;P83
aJ.s	angular impulse	1/1000000000000000000	attojoule second	AttoJ-SEC
bar/K	pressure coefficient	100000	bar.K-1;bar per kelvin;BAR-PER-DEG_C;bar/°C;bar.Cel-1;bar per degree celsius	BAR-PER-K;F81
Bq/m2	flux	1	Bq.m-2;becquerel per square metre;PER-M2-SEC;/(m2.s);m-2.s-1;reciprocal square metre second;PER-SEC-M2;/(s.m2);s-1.m-2;reciprocal second square metre;PER-SEC-M2-SR;/(s.m2.sr);s-1.m-2.sr-1;reciprocal second square metre steradian;PER-SEC-SR-M2;/(s.sr.m2);s-1.sr-1.m-2;reciprocal second steradian square metre	BQ-PER-M2;B81;C99;D2
BTU_IT-FT	thermal energy length	25123521/78125	Btu{IT}.ft;[Btu_IT].[ft_i];british thermal unit (international definition) foot	
BTU_IT-IN	thermal energy length	8374507/312500	Btu{IT}.in;[Btu_IT].[in_i];british thermal unit (international definition) inch	
C/mol	electric charge per amount of substance	1	C.mol-1;coulomb per mole	C-PER-MOL;A32
cd/lm	CD-PER-LM alone	1	cd.lm-1;candela per lumen	CD-PER-LM
CD-PER-M2	luminance	1	cd/m2;cd.m-2;candela per square metre;lm/m2;lm.m-2;lumen per square metre	nt;A24;LM-PER-M2;B60
CWT_SHORT	mass	45359237/1000000	cwt{short};[scwt_av];hundred weight - short;Hundredweight_US;hundredweight (us)	CWA
cmHg	pressure	166653/125	cm_Hg;cm[Hg];centimetre of mercury;CentiM_HG_0DEG_C;cmHg (0 °C);centimetre of mercury (0 °c)	CentiM_HG;J89;N13
DEG-PER-M	inverse length	31415926535897932384626433832795028841971693993751/1800000000000000000000000000000000000000000000000000	°/m;deg.m-1;degree per metre	H27
DEG_F-DAY	time temperature	48000	°F.d;[degF].d;degree fahrenheit day	
dBi	DeciB_ISO alone	1	decibel isotropic	DeciB_ISO
U/L	catalytic activity concentration	16667/1000000000	enzyme unit per litre	ENZ-PER-L
EarthMass	mass	5972190000000000000000000	earth mass	M⊕
ft/h	speed	127/1500000	[ft_i].h-1;foot per hour	FT-PER-HR;K14
FT2-DEG_F	area temperature	16129/312500	ft2.°F;[ft_i]2.[degF];square foot degree fahrenheit	
g.mm	length mass	1/1000000	gram millimetre	GM-MilliM;H84
g/ha	mass per area	1/10000000	g.har-1;gram per hectare	GM-PER-HA
g/h	mass flow rate	1/3600000	g.h-1;gram per hour	GM-PER-HR;F27
g/Hz	A0E0L0I0M1H0T1D0	1/1000	g.Hz-1;gram per hertz	GM-PER-HZ;F25
g/m2	mass per area	1/1000	g.m-2;gram per square metre	GM-PER-M2;GM
GFLOPS	computing speed	1000000000	giga floating point operations per second	GigaFLOPS
Gohm.m	resistivity	1000000000	GOhm.m;gigaohm metre;Mohm.km;MOhm.km;megaohm kilometre	GigaOHM-M;A88;MegaOHM-KiloM;H88
HP_Boiler	power	19619/2	HP{boiler};boiler horsepower	K42
HP_Metric	power	588399/800	HP{metric};horsepower (metric);PFERDESTAERKE;pferdestaerke	HJ;PS;N12
h/a	HR-PER-YR alone	1/8766	h.a-1;hour per year	HR-PER-YR
in/a	speed	127/157788000000	[in_i].a-1;inch per year	IN-PER-YR;M61
J/d	power	1/86400	J.d-1;joule per day	J-PER-DAY;P17
J/min	power	1/60	J.min-1;joule per minute	J-PER-MIN;P15
J/mol	molar energy	1	J.mol-1;joule per mole	J-PER-MOL;B15
K.m/W	thermal resistivity	1	K.m.W-1;kelvin metre per watt;m.K/W;m.K.W-1;metre kelvin per watt	K-M-PER-W;H35;M-K-PER-W
K/bar	A0E0L1I0M-1H1T2D0	1/100000	K.bar-1;kelvin per bar;DEG_C-PER-BAR;°C/bar;Cel.bar-1;degree celsius per bar	K-PER-BAR;F61;F60
K/min	temperature per time	1/60	K.min-1;kelvin per minute;DEG_C-PER-MIN;°C/min;Cel.min-1;degree celsius per minute	K-PER-MIN;F11;H13
K/s	temperature per time	1	K.s-1;kelvin per second;DEG_C-PER-SEC;°C/s;Cel.s-1;degree celsius per second	K-PER-SEC;F12;H14
kat/L	catalytic activity concentration	1000	kat.L-1;katal per litre	KAT-PER-L
kg.m2	moment of inertia	1	kilogram square metre	KiloGM-M2;B32
kohm.m	resistivity	1000	kOhm.m;kiloohm metre;ohm.km;Ohm.km;ohm kilometre	KiloOHM-M;B50;OHM-KiloM;M24
KiloPOISE	dynamic viscosity	100	kilopoise	kP
L/bar	A0E0L4I0M-1H0T2D0	1/100000000	L.bar-1;litre per bar	L-PER-BAR;G95
L/d	flow	1/86400000	L.d-1;litre per day;dm3/d;dm3.d-1;cubic decimetre per day	L-PER-DAY;LD;DeciM3-PER-DAY;J90
L/mol	molar refractivity	1/1000	L.mol-1;litre per mole;dm3/mol;dm3.mol-1;cubic decimetre per mole	L-PER-MOL;B58;DeciM3-PER-MOL;A37
lbm/acre	mass per area	280212789048614011930605230458497/2500000000000000000000000000000000000	[lb_av].[acr_br]-1;pound mass per acre	LB-PER-AC
lbm/ft	mass per length	45359237/30480000	[lb_av].[ft_i]-1;pound mass per foot	LB-PER-FT;P2
lbm/h	mass flow rate	45359237/360000000000	[lb_av].h-1;pound mass per hour	LB-PER-HR;4U
lbm/in	mass per length	45359237/2540000	[lb_av].[in_i]-1;pound mass per inch	LB-PER-IN;PO
lbm/m3	concentration	45359237/100000000	[lb_av].m-3;pound mass per cubic metre	LB-PER-M3
lbm/yd	mass per length	45359237/91440000	[lb_av].[yd_i]-1;pound mass per yard	LB-PER-YD;M84
LunarMass	mass	73460000000000000000000	lunar mass	M☾
m/bar	A0E0L2I0M-1H0T2D0	1/100000	m.bar-1;metre per bar	M-PER-BAR;G05
m/d	speed	1/86400	m.d-1;metre per day	M-PER-DAY
m/min	speed	1/60	m.min-1;metre per minute	M-PER-MIN;2X
m2/g	mass attenuation coefficient	1000	m2.g-1;square metre per gram;M2-PER-GM_DRY;m2/g{dry sediment};m2.g-1{dry};square metre per dry gram	M2-PER-GM
m2/ha	ratio	1/10000	m2.har-1;square metre per hectare	M2-PER-HA
m2/h	area per time	1/3600	m2.h-1;square metre per hour	M2-PER-HR
m2/Hz	area time	1	m2.Hz-1;square metre per hertz;m2.s/rad;m2.s.rad-1;square metre second per radian	M2-PER-HZ;M2-SEC-PER-RAD
m3/ha	length	1/10000	m3.har-1;cubic metre per hectare	M3-PER-HA
m3/Pa	A0E0L4I0M-1H0T2D0	1	m3.Pa-1;cubic metre per pascal	M3-PER-PA;M71
m3/a	flow	1/31557600	m3.a-1;cubic metre per year	M3-PER-YR
MIL_Angle	angle	24543692606170259675489401431871/25000000000000000000000000000000000	mil angle	mil
MFLOPS	computing speed	1000000	mega floating point operations per second	MegaFLOPS
Mohm.m	resistivity	1000000	MOhm.m;megaohm metre	MegaOHM-M;B76
uTorr	pressure	4053/30400000	microtorr	MicroTORR
mTorr	pressure	4053/30400	millitorr	MilliTORR
nohm.m	resistivity	1/1000000000	nOhm.m;nanoohm metre	NanoOHM-M;C46
ohm/K	A0E-2L2I0M1H-1T-3D0	1	Ohm.K-1;ohm per kelvin	OHM-PER-K
ohm/m	linear resistance	1	Ohm.m-1;ohm per metre	OHM-PER-M;H26
oz/h	mass flow rate	45359237/5760000000000	[oz_av].h-1;ounce mass per hour	OZ-PER-HR;L34
OZ_VOL_UK	volume	454609/16000000000	oz{UK};[foz_br];fluid ounce (uk)	OZI
OZ_VOL_US	volume	473176473/16000000000000	fl oz{US};fl oz;[foz_us];us liquid ounce	OZA
PA-M0dot5	stress intensity factor	1	Pa√m	
Pa/h	force per area time	1/3600	Pa.h-1;pascal per hour	PA-PER-HR
PER-DEG_F	thermal expansion coefficient	9/5	/°F;[degF]-1;reciprocal degree fahrenheit	J26
PER-EV-M3	energy density of states	5000000000000000000000000000/801088317	/(eV.m3);eV-1.m-3;reciprocal electron volt cubic metre	C88
PER-KiloM	inverse length	1/1000	/km;km-1;reciprocal kilometre;mm/m2;mm.m-2;millimetre per square metre	MilliM-PER-M2
PER-M-SEC	A0E0L-1I0M0H0T-1D0	1	/(m.s);m-1.s-1;reciprocal metre second	
PER-MegaK	thermal expansion coefficient	1/1000000	/MK;MK-1;reciprocal megakelvin;PPM/K;[ppm].K-1;parts per million per kelvin	M20;PPM-PER-K
PER-NanoM	inverse length	1000000000	/nm;nm-1;reciprocal nanometre;Gb/m;Gbit.m-1;gigabit per metre	GigaBIT-PER-M
PER-PicoM	inverse length	1000000000000	/pm;pm-1;reciprocal picometre	
PER-TONNE	inverse mass	1/1000	t-1;reciprocal tonne	/t
PK_US_DRY	volume	220244188543/25000000000000	peck{US Dry};[pk_us];us peck	pk;G23;PY
PFLOPS	computing speed	1000000000000000	peta floating point operations per second	PetaFLOPS
QT_US_DRY	volume	220244188543/200000000000000	qt{US Dry};[dqt_us];us dry quart	L62;QTD
R/s	exposure rate	129/500000	R.s-1;roentgen per second	R-PER-SEC;D6
s/m	vapour permeance	1	s.m-1;second per metre;KiloGM-PER-M2-PA-SEC;kg/(m2.Pa.s);kg.m-2.Pa-1.s-1;kilogram per square metre pascal second	SEC-PER-M;Q28
St/Pa	A0E0L3I0M-1H0T1D0	1/10000	St.Pa-1;stokes per pascal	ST-PER-PA;M80
SolarMass	mass	1988435000000000000000000000000	solar mass	S
TON_Assay	mass	2916667/100000000	assay ton	AT;M85
TOR.h	energy	63303354/5	ton of refrigeration hour	TON_FG-HR
TFLOPS	computing speed	1000000000000	tera floating point operations per second	TeraFLOPS
V/bar	hall coefficient	1/100000	V.bar-1;volt per bar	V-PER-BAR;G60
V/s	power per electric charge	1	V.s-1;volt per second	V-PER-SEC;H46
V2/K2	lorenz coefficient	1	V2.K-2;square volt per square kelvin	V2-PER-K2;D45
W/ft2	irradiance	1562500/145161	W.[ft_i]-2;watt per square foot	W-PER-FT2
W/in2	irradiance	25000000/16129	W.[in_i]-2;watt per square inch	W-PER-IN2;N49
W-PER-M-K	thermal conductivity	1	W/(m.K);W.m-1.K-1;watt per metre kelvin;W-PER-M-DEG_C;W/(m.°C);W.m-1.Cel-1;watt per metre degree celsius	D53;N80
yd/h	speed	127/500000	[yd_i].h-1;yard per hour	YD-PER-HR;M66
YR_Common	time	31536000000000	common year	a;L95
BBL_UK_PET	volume	397783/2500000	bbl{UK petroleum};barrel (uk petroleum)	J57
BBL_US_DRY	volume	9250255917/80000000000	bbl{US dry};dry barrel (us)	BLD
C.m2/V	polarizability	1	C.m2.V-1;coulomb square metre per volt;C2.m2/J;C2.m2.J-1;square coulomb square metre per joule	C-M2-PER-V;A27;C2-M2-PER-J
cd/ft2	luminance	1562500/145161	cd.[ft_i]-2;candela per square foot;lm/ft2;lm.[ft_i]-2;lumen per square foot	CD-PER-FT2;P32;LM-PER-FT2;P25
cd/in2	luminance	25000000/16129	cd.[in_i]-2;candela per square inch	CD-PER-IN2;P28
cmH2O	pressure	196133/2000	cmH20;cm_H2O;cm[H2O];conventional centimetre of water;gf/cm2;gf.cm-2;gram force per square centimetre;CentiM_H2O_4DEG_C;cmH2O (4 °C);centimetre of water (4 °c)	CentiM_H2O;H78;GM_F-PER-CentiM2;K31;N14
CentiPOISE	dynamic viscosity	1/1000	centipoise;mPa.s;millipascal second	cP;C7;MilliPA-SEC;C24
DEG-PER-HR	rotation	31415926535897932384626433832795028841971693993751/6480000000000000000000000000000000000000000000000000000	°/h;deg.h-1;degree per hour	
DEGREE_API	DEGREE_API alone	1	°API;degree api	J13
dyn.cm	torque	1/10000000	dyne centimetre	DYN-CentiM;J94
erg/g	absorbed dose	1/10000	erg.g-1;erg per gram	ERG-PER-GM;A61
statF	capacitance	69540628503351152010880622803/62500000000000000000000000000000000000000	statfarad	FARAD_Stat
ft/d	speed	127/36000000	[ft_i].d-1;foot per day	FT-PER-DAY
ft/min	speed	127/25000	[ft_i].min-1;foot per minute;FT3-PER-MIN-FT2;ft3/(min.ft2);[ft_i]3.min-1.[ft_i]-2;cubic foot per minute square foot	FT-PER-MIN;FR;36
ft/psi	A0E0L2I0M-1H0T2D0	393289536/8896443230521	[ft_i].[psi]-1;foot per psi	FT-PER-PSI;K17
ft2/h	area per time	16129/625000000	[ft_i]2.h-1;square foot per hour	FT2-PER-HR;M79
ft3/h	flow	6145149/781250000000	[ft_i]3.h-1;cubic foot per hour	FT3-PER-HR;2K
ft3/lbm	specific volume	1769802912/28349523125	[ft_i]3.[lb_av]-1;cubic foot per pound mass	FT3-PER-LB;N29
GAL_US_DRY	volume	220244188543/50000000000000	gal{US Dry};[gal_wi];dry gallon us	GLD
g/bar	A0E0L1I0M0H0T2D0	1/100000000	g.bar-1;gram per bar	GM-PER-BAR;F74
g/d	mass flow rate	1/86400000	g.d-1;gram per day	GM-PER-DAY;F26
GM-PER-L-K	A0E0L-3I0M1H-1T0D0	1	g/(L.K);g.L-1.K-1;gram per litre kelvin;GM-PER-DeciM3-K;g/(dm3.K);g.dm-3.K-1;gram per cubic decimetre kelvin;KiloGM-PER-M3-K;kg/(m3.K);kg.m-3.K-1;kilogram per cubic metre kelvin	G35;G34;G40
g/min	mass flow rate	1/60000	g.min-1;gram per minute	GM-PER-MIN;F28
g/mol	molar mass	1/1000	g.mol-1;gram per mole;kg/kmol;kg.kmol-1;kilogram per kilomole	GM-PER-MOL;A94;KiloGM-PER-KiloMOL;F24
g/s	mass flow rate	1/1000	g.s-1;gram per second;dyn.s/cm;dyn.s.cm-1;dyne second per centimetre	GM-PER-SEC;F29;DYN-SEC-PER-CentiM;A51
h/ft2	A0E0L-2I0M0H0T1D0	625000000/16129	h.[ft_i]-2;hour per square foot	HR-PER-FT2
in/min	speed	127/300000	[in_i].min-1;inch per minute	IN-PER-MIN;M63
in/psi	A0E0L2I0M-1H0T2D0	32774128/8896443230521	[in_i].[psi]-1;inch per psi	IN-PER-PSI;K46
in/rev	length	127000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	inch per revolution	IN-PER-REV;H57
in/s	speed	127/5000	[in_i].s-1;inch per second	IN-PER-SEC;IU
in3/h	flow	2048383/450000000000000	[in_i]3.h-1;cubic inch per hour	IN3-PER-HR;G56
in3/lbm	specific volume	2048383/56699046250	[in_i]3.[lb_av]-1;cubic inch per pound mass	IN3-PER-LB;N30
J-PER-GM-K	specific heat capacity	1000	J/(g.K);J.g-1.K-1;joule per gram kelvin;J-PER-GM-DEG_C;J/(g.°C);J.g-1.Cel-1;joule per gram degree celsius;KiloJ-PER-KiloGM-K;kJ/(kg.K);kJ.kg-1.K-1;kilojoule per kilogram kelvin	B43
K/s2	temperature per square time	1	K.s-2;kelvin per square second	K-PER-SEC2
kat/m3	catalytic activity concentration	1	kat.m-3;katal per cubic metre;MOL-PER-M3-SEC;mol/(m3.s);mol.m-3.s-1;mole per cubic metre second;mkat/L;mkat.L-1;millikatal per litre;MOL-PER-M2-SEC-M;mol/(m2.s.m);mol.m-2.s-1.m-1;mole per square metre second metre;MOL-PER-M2-SEC-M-SR;mol/(m2.s.m.sr);mol.m-2.s-1.m-1.sr-1;mole per square metre second metre steradian	KAT-PER-M3;MilliKAT-PER-L
kn/s	acceleration	463/900	[kn_i].s-1;knot per second	KN-PER-SEC
KiloBTU_IT	energy	1055056	kBtu{IT};k[Btu_IT];kilo british thermal unit (international definition)	
KiloBTU_TH	energy	2108700529/2000	kBtu{th};k[Btu_th];kilo british thermal unit (thermochemical definition)	
KiloCAL_IT	energy	20934/5	kcal{IT};kcal_IT;kilo international table calorie	E14
kgf.m	torque	196133/20000	kilo gram force metre	KiloGM_F-M;B38
L-PER-HR-K	A0E0L3I0M0H-1T-1D0	1/3600000	L/(h.K);L.h-1.K-1;litre per hour kelvin	G66
lbm/d	mass flow rate	45359237/8640000000000	[lb_av].d-1;pound mass per day	LB-PER-DAY;K66
lbm/ft2	mass per area	45359237/9290304	[lb_av].[ft_i]-2;pound mass per square foot	LB-PER-FT2;FP
lbm/ft3	concentration	28349523125/1769802912	[lb_av].[ft_i]-3;pound mass per cubic foot	LB-PER-FT3;87
lbm/in2	mass per area	45359237/64516	[lb_av].[in_i]-2;pound mass per square inch	LB-PER-IN2;80
lbm/in3	concentration	56699046250/2048383	[lb_av].[in_i]-3;pound mass per cubic inch	LB-PER-IN3;LA
lbm/min	mass flow rate	45359237/6000000000	[lb_av].min-1;pound mass per minute	LB-PER-MIN;K78
lbm/psi	A0E0L1I0M0H0T2D0	16129/245166250	[lb_av].[psi]-1;pound mass per psi	LB-PER-PSI;K77
lbm/s	mass flow rate	45359237/100000000	[lb_av].s-1;pound mass per second	LB-PER-SEC;K81
lbm/yd2	mass per area	45359237/83612736	[lb_av].[yd_i]-2;pound mass per square yard	LB-PER-YD2;N25
lbm/yd3	concentration	28349523125/47784678624	[lb_av].[yd_i]-3;pound mass per cubic yard	LB-PER-YD3;K84
m2.K/W	thermal insulance	1	m2.K.W-1;square metre kelvin per watt	M2-K-PER-W;D19
m2/Hz2	A0E0L2I0M0H0T2D0	1	m2.Hz-2;square metre per square hertz	M2-PER-HZ2
m2/mol	molar absorption coefficient	1	m2.mol-1;square metre per mole;rad.m2/mol;rad.m2.mol-1;radian square metre per mole	M2-PER-MOL;D22;RAD-M2-PER-MOL;C82
m3/bar	A0E0L4I0M-1H0T2D0	1/100000	m3.bar-1;cubic metre per bar	M3-PER-BAR;G96
m3/d	flow	1/86400	m3.d-1;cubic metre per day	M3-PER-DAY;G52
m3/mol	molar refractivity	1	m3.mol-1;cubic metre per mole	M3-PER-MOL;A40
m4/s	A0E0L4I0M0H0T-1D0	1	m4.s-1;quartic metre per second	M4-PER-SEC
mi/min	speed	16764/625	[mi_i].min-1;international mile per minute	MI-PER-MIN;M57
mi/s	speed	201168/125	[mi_i].s-1;international mile per second	MI-PER-SEC;M58
min/mi	vapour permeance	625/16764	min.[mi_i]-1;minute per international mile	MIN-PER-MI
mol/h	catalytic activity	1/3600	mol.h-1;mole per hour	MOL-PER-HR;L23
mol/m2	A1E0L-2I0M0H0T0D0	1	mol.m-2;mole per square metre	MOL-PER-M2
MegaBTU_IT	energy	1055056000	MBtu{IT};M[Btu_IT];mega british thermal unit (international definition)	
uohm.m	resistivity	1/1000000	uOhm.m;microohm metre	MicroOHM-M;B95
MicroPOISE	dynamic viscosity	1/10000000	micropoise	uP;J32
MilliDARCY	area	1/1013250000000000	millidarcy	md
mmH20	pressure	196133/20000	mm[H2O];conventional millimetre of water;kgf/m2;kgf.m-2;kilo gram force per square metre	MilliM_H2O;HP;KiloGM_F-PER-M2;B40
mohm.m	resistivity	1/1000	mOhm.m;milliohm metre	MilliOHM-M;C23
MilliRAD_R	absorbed dose	1/100000	mRAD;millirad	mrad
mrem	dose equivalent	1/100000	mREM;milli roentgen equivalent man	MilliR_man;L31
Np/s	NP-PER-SEC alone	1	Np.s-1;neper per second	NP-PER-SEC;C51
NUM-PER-HA	area bit density	1/10000	#/ha;{#}.har-1;number per hectare	
ohm.cm	resistivity	1/100	Ohm.cm;ohm centimetre	OHM-CentiM;C60
ohm/mi	linear resistance	125/201168	Ohm.[mi_i]-1;ohm per international mile	OHM-PER-MI;F55
oz/d	mass flow rate	45359237/138240000000000	[oz_av].d-1;ounce mass per day	OZ-PER-DAY;L33
oz/ft2	mass per area	45359237/148644864	[oz_av].[ft_i]-2;ounce mass per square foot	OZ-PER-FT2;37
oz/in2	mass per area	45359237/1032256	[oz_av].[in_i]-2;ounce mass per square inch	OZ-PER-IN2;N22
oz/in3	concentration	28349523125/16387064	[oz_av].[in_i]-3;ounce mass per cubic inch	OZ-PER-IN3;L39
oz/min	mass flow rate	45359237/96000000000	[oz_av].min-1;ounce mass per minute	OZ-PER-MIN;L35
oz/s	mass flow rate	45359237/1600000000	[oz_av].s-1;ounce mass per second	OZ-PER-SEC;L36
oz/yd2	mass per area	45359237/1337803776	[oz_av].[yd_i]-2;ounce mass per square yard	OZ-PER-YD2;ON
oz/yd3	concentration	28349523125/764554857984	[oz_av].[yd_i]-3;ounce mass per cubic yard	OZ-PER-YD3;G32
Pa/bar	ratio	1/100000	Pa.bar-1;pascal per bar	PA-PER-BAR;F07
Pa/min	force per area time	1/60	Pa.min-1;pascal per minute	PA-PER-MIN
pdl/in	energy per area	136077711/25000000	[lb_av].[ft_i].s-2.[in_i]-1;poundal per inch	PDL-PER-IN;N32
PER-KiloGM	inverse mass	1	/kg;kg-1;reciprocal kilogram;NUM-PER-KiloGM;#/kg;{#}.kg-1;number per kilogram	
PER-MegaPA	compressibility	1/1000000	/MPa;MPa-1;reciprocal megapascal	
PER-MicroM	inverse length	1000000	/um;um-1;reciprocal micrometre	
PER-MilliL	inverse volume	1000000	/mL;mL-1;reciprocal millilitre;PER-CentiM3;/cm3;cm-3;reciprocal cubic centimetre;NUM-PER-MilliL;#/mL;{#}.mL-1;number per millilitre	H50
PER-MilliM	inverse length	1000	/mm;mm-1;reciprocal millimetre	
PER-PA-SEC	fluidity	1	/(Pa.s);Pa-1.s-1;reciprocal pascal second	
PIXEL_AREA	PIXEL_AREA alone	1	pixel (area)	
PPTM/K	thermal expansion coefficient	1/10000000	parts per ten million per kelvin	PPTM-PER-K
psi/in	pressure gradient	8896443230521/32774128	[psi].[in_i]-1;psi per inch	PSI-PER-IN;P86
planckarea	area	261223/1000000000000000000000000000000000000000000000000000000000000000000000000000	planck area	PlanckArea
planckmass	mass	54411/2500000000000	planck mass	PlanckMass
PlanckTime	time	134781/2500000000000000000000000000000000000000000	planck time	tₚ
PlanckVolt	voltage	1042950000000000000000000000	planck volt	Vₚ
quarter	mass	317514659/25000000	28.[lb_av];quarter (uk)	Quarter_UK;QTR
rad/h	rotation	1/3600	rad.h-1;radian per hour	RAD-PER-HR
rev/h	rotation	31415926535897932384626433832795028841971693993751/18000000000000000000000000000000000000000000000000000	revolution per hour	REV-PER-HR
scf/h	catalytic activity	832013888888888888888888888888889/2500000000000000000000000000000000000	standard cubic foot per hour	SCF-PER-HR
scm/h	catalytic activity	1175291666666666666666666666666667/100000000000000000000000000000000000	standard cubic metre per hour	SCM-PER-HR
St/bar	A0E0L3I0M-1H0T1D0	1/1000000000	St.bar-1;stokes per bar	ST-PER-BAR;G46
Sv/min	absorbed dose rate	1/60	Sv.min-1;sievert per minute;Gy/min;Gy.min-1;gray per minute	SV-PER-MIN;P74;GRAY-PER-MIN;P57
Sv/s	absorbed dose rate	1	Sv.s-1;sievert per second;Gy/s;Gy.s-1;gray per second;W/kg;W.kg-1;watt per kilogram	SV-PER-SEC;P65;GRAY-PER-SEC;A96;W-PER-KiloGM;WA
Torr/m	pressure gradient	20265/152	torr per metre	TORR-PER-M;P85
W.h/L	pressure	3600000	W.h.L-1;watt hour per litre	W-HR-PER-L
W-PER-M2-K	coefficient of heat transfer	1	W/(m2.K);W.m-2.K-1;watt per square metre kelvin;KiloGM-PER-SEC3-K;kg/(s3.K);kg.s-3.K-1;kilogram per cubic second kelvin	D55
yd/min	speed	381/25000	[yd_i].min-1;yard per minute	YD-PER-MIN;M65
yd/psi	A0E0L2I0M-1H0T2D0	1179868608/8896443230521	[yd_i].[psi]-1;yard per psi	YD-PER-PSI;L99
yd/s	speed	1143/1250	[yd_i].s-1;yard per second	YD-PER-SEC;M64
yd3/h	flow	165919023/781250000000	[yd_i]3.h-1;cubic yard per hour	YD3-PER-HR;M13
A.h/m2	electric charge per area	3600	A.h.m-2;ampere hour per square metre	A-HR-PER-M2
A.h/m3	electric charge volume density	3600	A.h.m-3;ampere hour per cubic metre	A-HR-PER-M3
A-PER-M2-K2	richardson constant	1	A/(m2.K2);A.m-2.K-2;ampere per square metre square kelvin	A6
at/m	pressure gradient	196133/2	att.m-1;technical atmosphere per metre	ATM_T-PER-M;P84
b/eV	spectral angular cross section	1/1602176634	b.eV-1;barn per electron volt;BARN-PER-SR-EV;b/(sr.eV);b.sr-1.eV-1;barn per steradian electron volt	BARN-PER-EV;A15;A16
BTU_39DEG_F	energy	105967/100	Btu (39 °F);british thermal unit (39 °f)	
BTU_59DEG_F	energy	5274/5	Btu (59 °F);british thermal unit (59 °f)	N67
BTU_60DEG_F	energy	26367/25	Btu (60 °F);british thermal unit (60 °f)	
C3.m/J2	cubic electric dipole moment per square energy	1	C3.m.J-2;cubic coulomb metre per square joule	C3-M-PER-J2
CAL_15DEG_C	energy	20929/5000	cal{15 °C};cal_[15];calorie (15 degrees c)	A1
cal20	energy	41819/10000	calorie (20 °c)	CAL_20DEG_C;N69
cm2.min	area time	3/500	square centimetre minute	CentiM2-MIN
cm2.s	area time	1/10000	square centimetre second	CentiM2-SEC
DEG-PER-MIN	rotation	31415926535897932384626433832795028841971693993751/108000000000000000000000000000000000000000000000000000	°/min;deg.min-1;degree per minute	
DEG-PER-SEC	rotation	31415926535897932384626433832795028841971693993751/1800000000000000000000000000000000000000000000000000	°/s;deg.s-1;degree per second	E96
DEGREE_BRIX	DEGREE_BRIX alone	1	°Bx;degree brix	J18
DEG_C-PER-K	DEG_C-PER-K alone	1	°C/K;Cel.K-1;degree celsius per kelvin	E98
DEG_F-PER-K	DEG_F-PER-K alone	5/9	°F/K;[degF].K-1;degree fahrenheit per kelvin	J20
dB/m	DeciB-PER-M alone	1	dB.m-1;decibel per metre	DeciB-PER-M;H52
erg.cm2	total atomic stopping power	1/100000000000	erg square centimetre	ERG-CentiM2;A66
erg/s	power	1/10000000	erg.s-1;erg per second	ERG-PER-SEC;A63
F/m	permittivity	1	F.m-1;farad per metre	FARAD-PER-M;A69
ft.lbf.s	angular impulse	3389544870828501/2500000000000000	[ft_i].[lbf_av].s;foot pound force second	FT-LB_F-SEC
ft/s2	acceleration	381/1250	[ft_i].s-2;foot per square second	FT-PER-SEC2;A73
ft2/s	area per time	145161/1562500	[ft_i]2.s-1;square foot per second	FT2-PER-SEC;S3
ft3/d	flow	2048383/6250000000000	[ft_i]3.d-1;cubic foot per day	FT3-PER-DAY;K22
ft3/min	flow	18435447/39062500000	[ft_i]3.min-1;cubic foot per minute	FT3-PER-MIN;2L
ft3/psi	A0E0L4I0M-1H0T2D0	14272575583824/3475173136922265625	[ft_i]3.[psi]-1;cubic foot per psi	FT3-PER-PSI;K23
ft3/s	flow	55306341/1953125000	[ft_i]3.s-1;cubic foot per second	FT3-PER-SEC;E17
GM-PER-HR-K	A0E0L0I0M1H-1T-1D0	1/3600000	g/(h.K);g.h-1.K-1;gram per hour kelvin	F36
GM-PER-M3-K	A0E0L-3I0M1H-1T0D0	1/1000	g/(m3.K);g.m-3.K-1;gram per cubic metre kelvin	G36
HP_Electric	power	746	HP{electric};horsepower (electric)	K43
HR_Sidereal	time	3590170000	h{sidereal};sidereal hour	
in/s2	acceleration	127/5000	[in_i].s-2;inch per square second	IN-PER-SEC2;IV
in2/s	area per time	16129/25000000	[in_i]2.s-1;square inch per second	IN2-PER-SEC;G08
in3/min	flow	2048383/7500000000000	[in_i]3.min-1;cubic inch per minute	IN3-PER-MIN;G57
in3/s	flow	2048383/125000000000	[in_i]3.s-1;cubic inch per second	IN3-PER-SEC;G58
J.m/mol	length molar energy	1	J.m.mol-1;joule metre per mole	J-M-PER-MOL
J-PER-MOL-K	molar heat capacity	1	J/(mol.K);J.mol-1.K-1;joule per mole kelvin	B16
K.m/s	A0E0L1I0M0H1T-1D0	1	K.m.s-1;kelvin metre per second	K-M-PER-SEC
kA/K	electric current per temperature	1000	kA.K-1;kiloampere per kelvin	KiloA-PER-K
kA/m	magnetic field strength	1000	kA.m-1;kiloampere per metre;A/mm;A.mm-1;ampere per millimetre	KiloA-PER-M;B24;A-PER-MilliM;A3
KiloCubicFT	volume	55306341/1953125	k(ft3);k[ft_i]3;kilo cubic foot	FC
kg.s2	A0E0L0I0M1H0T2D0	1	kilogram square second	KiloGM-SEC2
kJ/K	heat capacity	1000	kJ.K-1;kilojoule per kelvin	KiloJ-PER-K;B41
kN/m	energy per area	1000	kN.m-1;kilonewton per metre;N/mm;N.mm-1;newton per millimetre;kN.m/m2;kN.m.m-2;kilonewton metre per square metre	KiloN-PER-M;N31;N-PER-MilliM;F47;KiloN-M-PER-M2
kV/m	electric field strength	1000	kV.m-1;kilovolt per metre;V/mm;V.mm-1;volt per millimetre	KiloV-PER-M;B55;V-PER-MilliM;D51
L-PER-DAY-K	A0E0L3I0M0H-1T-1D0	1/86400000	L/(d.K);L.d-1.K-1;litre per day kelvin	G65
L-PER-MIN-K	A0E0L3I0M0H-1T-1D0	1/60000	L/(min.K);L.min-1.K-1;litre per minute kelvin	G67
L-PER-SEC-K	A0E0L3I0M0H-1T-1D0	1/1000	L/(s.K);L.s-1.K-1;litre per second kelvin	G68
lbf/ft	energy per area	8896443230521/609600000000	[lbf_av].[ft_i]-1;pound force per foot;ft.lbf/ft2;[ft_i].[lbf_av].[ft_i]-2;foot pound force per square foot	LB_F-PER-FT;FT-LB_F-PER-FT2
lbf/in	energy per area	8896443230521/50800000000	[lbf_av].[in_i]-1;pound force per inch	LB_F-PER-IN;F48
lbf/yd	energy per area	8896443230521/1828800000000	[lbf_av].[yd_i]-1;pound force per yard	LB_F-PER-YD;N33
m/F	inverse permittivity	1	m.F-1;metre per farad	M-PER-FARAD
M-PER-SEC-K	A0E0L1I0M0H-1T-1D0	1	m/(s.K);m.s-1.K-1;metre per second kelvin	L12
M3-PER-HR-K	A0E0L3I0M0H-1T-1D0	1/3600	m3/(h.K);m3.h-1.K-1;cubic metre per hour kelvin	G70
m3/s2	standard gravitational parameter	1	m3.s-2;cubic metre per square second	M3-PER-SEC2
nmi/h	speed	1028888888888888888888888888888889/2000000000000000000000000000000000	[nmi_i].h-1;nautical mile per hour	MI_N-PER-HR
MOL-PER-L-K	A1E0L-3I0M0H-1T0D0	1000	mol/(L.K);mol.L-1.K-1;mole per litre kelvin;KiloMOL-PER-M3-K;kmol/(m3.K);kmol.m-3.K-1;kilomole per cubic metre kelvin	L26;K59
mol/min	catalytic activity	1/60	mol.min-1;mole per minute	MOL-PER-MIN;L30
MOMME_Pearl	mass	15/4	momme (pearl)	
MJ/K	heat capacity	1000000	MJ.K-1;megajoule per kelvin	MegaJ-PER-K
MV/m	electric field strength	1000000	MV.m-1;megavolt per metre	MegaV-PER-M;B79
mas	angle	31415926535897932384626433832795028841971693993751/6480000000000000000000000000000000000000000000000000000000	m'';milliarcsecond	MilliARCSEC
N-M-PER-DEG	energy	1800000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	N.m/°;N.m.deg-1;newton metre per degree	F89
N.s/m	mass flow rate	1	N.s.m-1;newton second per metre;kg/s;kg.s-1;kilogram per second	N-SEC-PER-M;C58;KiloGM-PER-SEC;KGS
nA/K	electric current per temperature	1/1000000000	nA.K-1;nanoampere per kelvin	NanoA-PER-K
nH/m	electromagnetic permeability	1/1000000000	nH.m-1;nanohenry per metre	NanoH-PER-M;C44
ohm/bar	A0E-2L3I0M0H0T-1D0	1/100000	Ohm.bar-1;ohm per bar	OHM-PER-BAR
pdl/ft2	pressure	45359237/30480000	[lb_av].[ft_i].s-2.[ft_i]-2;poundal per square foot	PDL-PER-FT2;N21
pdl/in2	pressure	136077711/635000	[lb_av].[ft_i].s-2.[in_i]-2;poundal per square inch	PDL-PER-IN2;N26
PER-GigaEV2	inverse square energy	25000000000000000000000000000000000000/641742491633892489	/GeV2;GeV-2;reciprocal square giga electron volt	
PER-KiloGM2	inverse square mass	1	/kg2;kg-2;reciprocal square kilogram	
PER-M-NanoM	area bit density	1000000000	/(m.nm);m-1.nm-1;reciprocal metre nanometre;PER-M-NanoM-SR;/(m.nm.sr);m-1.nm-1.sr-1;reciprocal metre nanometre steradian	
PER-MilliGM	inverse mass	1000000	/mg;mg-1;reciprocal milligram;NUM-PER-MilliGM;#/mg;{#}.mg-1;number per milligram	
PER-MilliM3	inverse volume	1000000000	/mm3;mm-3;reciprocal cubic millimetre;NUM-PER-MicroL;#/uL;{#}.uL-1;number per microlitre;NUM-PER-MilliM3;#/mm3;{#}.mm-3;number per cubic millimetre	L20
PER-PERCENT	PER-PERCENT alone	100	%-1;reciprocal percent	/%
PERM_Metric	vapour permeance	1/1000000000000	perm{Metric};metric perm;NanoGM-PER-M2-PA-SEC;ng/(m2.Pa.s);ng.m-2.Pa-1.s-1;nanogram per square metre pascal second	
PINT_US_DRY	volume	550610471/1000000000000	pt{US Dry};[dpt_us];us dry pint	L61;PTD
P/K	A0E0L-1I0M1H-1T-1D0	1/10	P.K-1;poise per kelvin	POISE-PER-K;F86
PPTH-PER-HR	frequency	1388888888888888888888888888888889/5000000000000000000000000000000000000000	‰/h;[ppth].h-1;parts per thousand per hour	
planckforce	force	121027000000000000000000000000000000000000000	planck force	PlanckForce
planckpower	power	36283100000000000000000000000000000000000000000000000	planck power	PlanckPower
rad/min	rotation	1/60	rad.min-1;radian per minute	RAD-PER-MIN
rad/s	rotation	1	rad.s-1;radian per second	RAD-PER-SEC;2A
rem/s	absorbed dose rate	1/100	REM.s-1;rem per second	REM-PER-SEC;P69
rev/s	rotation	31415926535897932384626433832795028841971693993751/5000000000000000000000000000000000000000000000000	revolution per second	REV-PER-SEC;RPS
scf/min	catalytic activity	998416666666666666666666666666667/50000000000000000000000000000000000	standard cubic foot per minute	SCF-PER-MIN
scm/min	catalytic activity	7051750000000000000000000000000001/10000000000000000000000000000000000	standard cubic metre per minute	SCM-PER-MIN
s/ft2	A0E0L-2I0M0H0T1D0	1562500/145161	s.[ft_i]-2;second per square foot	SEC-PER-FT2
slug/ft	mass per length	8896443230521/185806080000	slug per foot	SLUG-PER-FT
slug/h	mass flow rate	8896443230521/2194560000000000	slug per hour	SLUG-PER-HR;L66
t/K	A0E0L0I0M1H-1T0D0	1000	t.K-1;tonne per kelvin;metric ton per kelvin	TONNE-PER-K;L69;TON_Metric-PER-K
V-PER-L-MIN	A0E-1L-1I0M1H0T-4D0	50/3	V/(L.min);V.L-1.min-1;volt per litre minute	F87
W.h/m2	energy per area	3600	W.h.m-2;watt hour per square metre	W-HR-PER-M2
W.h/m3	energy density	3600	W.h.m-3;watt hour per cubic metre	W-HR-PER-M3
W-PER-M2-K4	power per area quartic temperature	1	W/(m2.K4);W.m-2.K-4;watt per square metre quartic kelvin	D56
W-PER-M2-SR	radiance	1	W/(m2.sr);W.m-2.sr-1;watt per square metre steradian	D58
yd/s2	acceleration	1143/1250	[yd_i].s-2;yard per square second	YD-PER-SEC2;M40
yd3/d	flow	55306341/6250000000000	[yd_i]3.d-1;cubic yard per day	YD3-PER-DAY;M12
yd3/min	flow	497757069/39062500000	[yd_i]3.min-1;cubic yard per minute	YD3-PER-MIN;M15
yd3/psi	A0E0L4I0M-1H0T2D0	385359540763248/3475173136922265625	[yd_i]3.[psi]-1;cubic yard per psi	YD3-PER-PSI;M14
yd3/s	flow	1493271207/1953125000	[yd_i]3.s-1;cubic yard per second	YD3-PER-SEC;M16
YR_Sidereal	time	31558149763200	a{sidereal};sidereal year	L96
YR_TROPICAL	time	31556925216000	a{tropical};a_t;tropical year	D42
A/cm	magnetic field strength	100	A.cm-1;ampere per centimetre	A-PER-CentiM;A2
A/kg	exposure rate	1	A.kg-1;ampere per kilogram;C-PER-KiloGM-SEC;C/(kg.s);C.kg-1.s-1;coulomb per kilogram second	A-PER-KiloGM;H31;A31
abA.cm2	magnetic area moment	1/1000	Bi.cm2;abampere square centimetre	A_Ab-CentiM2
BPM	heart rate	1666666666666666666666666666666667/100000000000000000000000000000000000	min-1{H.B.};beat per minute	BEAT-PER-MIN
BILLION_Long	count	1000000000000	billion (long scale)	
BU_UK-PER-HR	flow	505121111111111111111111111111111/50000000000000000000000000000000000000	bsh{UK}/h;[bu_br].h-1;bushel (uk) per hour	J65
C4.m4/J3	quartic electric dipole moment per cubic energy	1	C4.m4.J-3;quartic coulomb quartic metre per cubic joule	C4-M4-PER-J3
cm/K	linear thermal expansion	1/100	cm.K-1;centimetre per kelvin	CentiM-PER-K;F51
DAY_Sidereal	time	86164099000	day{sidereal};sidereal day	
DEG-PER-SEC2	angular acceleration	31415926535897932384626433832795028841971693993751/1800000000000000000000000000000000000000000000000000	°/s2;deg.s-2;degree per square second	M45
DEGREE_BAUME	DEGREE_BAUME alone	1	°Bé{origin};degree baume (origin scale)	J14
DEGREE_PLATO	DEGREE_PLATO alone	1	degree plato	°P;PLA
DEG_C-CentiM	length temperature	1/100	°C.cm;Cel.cm;degree celsius centimetre	
DEG_C-PER-YR	temperature per time	1/31557600	°C/a;Cel.a-1;degree celsius per year	
DEG_F-PER-HR	temperature per time	1/6480	°F/h;[degF].h-1;degree fahrenheit per hour;DEG_R-PER-HR;°R/h;[degR].h-1;degree rankine per hour	J23;J28
dB.mW	DeciB-MilliW alone	1	decibel milliwatt	DeciB-MilliW;DBM
dL/g	specific volume	1/10	dL.g-1;decilitre per gram	DeciL-PER-GM;22
FT-PER-DEG_F	linear thermal expansion	3429/6250	ft/°F;[ft_i].[degF]-1;foot per degree fahrenheit	K13
FT2-HR-DEG_F	area time temperature	580644/3125	ft2.h.°F;[ft_i]2.h.[degF];square foot hour degree fahrenheit	
GI_UK-PER-HR	flow	1973129166666666666666666666666667/50000000000000000000000000000000000000000	gill{UK}/h;[gil_br].h-1;gill (uk) per hour	K33
GI_US-PER-HR	flow	157725491/4800000000000000	gill{US}/h;[gil_us].h-1;gill (us) per hour	K37
g.h/L2	A0E0L-6I0M1H0T1D0	3600000	g.h.L-2;gram hour per square litre;GM-HR-PER-M3-CentiM3;g.h/(m3.cm3);g.h.m-3.cm-3;gram hour per cubic metre cubic centimetre;MilliGM-HR-PER-L-CentiM3;mg.h/(L.cm3);mg.h.L-1.cm-3;milligram hour per litre cubic centimetre	GM-HR-PER-L2
g.h/m6	A0E0L-6I0M1H0T1D0	18/5	g.h.m-6;gram hour per sextic metre;MilliGM-HR-PER-L-M3;mg.h/(L.m3);mg.h.L-1.m-3;milligram hour per litre cubic metre;MilliGM-HR-PER-M3-L;mg.h/(m3.L);mg.h.m-3.L-1;milligram hour per cubic metre litre	GM-HR-PER-M6
GM-PER-DAY-K	A0E0L0I0M1H-1T-1D0	1/86400000	g/(d.K);g.d-1.K-1;gram per day kelvin	F35
GM-PER-L-BAR	mass per energy	1/100000	g/(L.bar);g.L-1.bar-1;gram per litre bar;GM-PER-DeciM3-BAR;g/(dm3.bar);g.dm-3.bar-1;gram per cubic decimetre bar;KiloGM-PER-M3-BAR;kg/(m3.bar);kg.m-3.bar-1;kilogram per cubic metre bar	G13;G12;G18
GM-PER-M2-HR	mass per area time	1/3600000	g/(m2.h);g.m-2.h-1;gram per square metre hour	
GM-PER-M2-YR	mass per area time	1/31557600000	g/(m2.a);g.m-2.a-1;gram per square metre year	
GM-PER-MIN-K	A0E0L0I0M1H-1T-1D0	1/60000	g/(min.K);g.min-1.K-1;gram per minute kelvin	F37
GM-PER-SEC-K	A0E0L0I0M1H-1T-1D0	1/1000	g/(s.K);g.s-1.K-1;gram per second kelvin	F38
GRAIN-PER-M3	concentration	6479891/100000000000	gr{UK}/m3;[gr].m-3;grain per cubic metre	
Gbp	GigaBasePair alone	1000000000	giga base pair	GigaBasePair
GC/m3	electric charge volume density	1000000000	GC.m-3;gigacoulomb per cubic metre;C/mm3;C.mm-3;coulomb per cubic millimetre	GigaC-PER-M3;A84;C-PER-MilliM3;A30
GJ/h	power	2500000/9	GJ.h-1;gigajoule per hour	GigaJ-PER-HR;P16
GJ/m2	energy per area	1000000000	GJ.m-2;gigajoule per square metre;GN.m/m2;GN.m.m-2;giganewton metre per square metre	GigaJ-PER-M2;GigaN-M-PER-M2
Hart/s	frequency	5756462732485114210044978636711/2500000000000000000000000000000	hartley per second	HART-PER-SEC;Q18
IN-PER-DEG_F	linear thermal expansion	1143/25000	in/°F;[in_i].[degF]-1;inch per degree fahrenheit	K45
K.Pa/s	A0E0L-1I0M1H1T-3D0	1	K.Pa.s-1;kelvin pascal per second	K-PA-PER-SEC
kA/m2	electric current density	1000	kA.m-2;kiloampere per square metre	KiloA-PER-M2;B23
kC/m2	electric charge per area	1000	kC.m-2;kilocoulomb per square metre	KiloC-PER-M2;B28
kC/m3	electric charge volume density	1000	kC.m-3;kilocoulomb per cubic metre	KiloC-PER-M3;B27
KiloCAL_Mean	energy	4190	kcal{mean};kcal_m;kilocalorie (mean)	K51
kg/J	mass per energy	1	kg.J-1;kilogram per joule;KiloGM-PER-M3-PA;kg/(m3.Pa);kg.m-3.Pa-1;kilogram per cubic metre pascal	KiloGM-PER-J;M73
kg/K	A0E0L0I0M1H-1T0D0	1	kg.K-1;kilogram per kelvin	KiloGM-PER-K;F15
kg/m	mass per length	1	kg.m-1;kilogram per metre;g/mm;g.mm-1;gram per millimetre	KiloGM-PER-M;KL;GM-PER-MilliM;H76
kJ/h	power	5/18	kJ.h-1;kilojoule per hour	KiloJ-PER-HR;P20
kcmil	area	202683/400000000000	k[cml_i];kilo circular mil	KiloMIL_Circ
kN/m3	pressure gradient	1000	kN.m-3;kilonewton per cubic metre;kPa/m;kPa.m-1;kilopascal per metre	KiloN-PER-M3;KiloPA-PER-M;P81
kPa/K	pressure coefficient	1000	kPa.K-1;kilopascal per kelvin	KiloPA-PER-K;F83
kVA/K	thermal conductance	1000	kVA.K-1;kilo volt ampere per kelvin;kvar/K;kvar.K-1;kilo volt ampere reactive per kelvin	KiloVA-PER-K;KiloVAR-PER-K
kWb/m	magnetic vector potential	1000	kWb.m-1;kiloweber per metre;Wb/mm;Wb.mm-1;weber per millimetre	KiloWB-PER-M;B56;WB-PER-MilliM;D60
L-PER-HR-BAR	A0E0L4I0M-1H0T1D0	1/360000000000	L/(h.bar);L.h-1.bar-1;litre per hour bar	G83
L/kg	specific volume	1/1000	L.kg-1;litre per kilogram;mL/g;mL.g-1;millilitre per gram;cm3/g;cm3.g-1;cubic centimetre per gram;dm3/kg;dm3.kg-1;cubic decimetre per kilogram	L-PER-KiloGM;H83;MilliL-PER-GM;CentiM3-PER-GM;DeciM3-PER-KiloGM;N28
LB-PER-DEG_F	A0E0L0I0M1H-1T0D0	408233133/500000000	lbm/°F;[lb_av].[degF]-1;pound mass per degree fahrenheit	K64
LB-PER-FT-HR	dynamic viscosity	45359237/109728000000	lbm/(ft.h);[lb_av].[ft_i]-1.h-1;pound mass per foot hour	K67
lbf/ft2	pressure	8896443230521/185806080000	[lbf_av].[ft_i]-2;pound force per square foot	LB_F-PER-FT2;K85
M-PER-SEC-PA	A0E0L2I0M-1H0T1D0	1	m/(s.Pa);m.s-1.Pa-1;metre per second pascal	M59
M2-PER-HA-YR	frequency	1/315576000000	m2/(ha.a);m2.har-1.a-1;square metre per hectare year	
m2/kW	area per power	1/1000	m2.kW-1;square metre per kilowatt	M2-PER-KiloW
M2-PER-SEC-K	A0E0L2I0M0H-1T-1D0	1	m2/(s.K);m2.s-1.K-1;square metre per second kelvin	G09
M2-PER-V-SEC	mobility	1	m2/(V.s);m2.V-1.s-1;square metre per volt second	D26
M3-PER-DAY-K	A0E0L3I0M0H-1T-1D0	1/86400	m3/(d.K);m3.d-1.K-1;cubic metre per day kelvin	G69
M3-PER-HA-YR	speed	1/315576000000	m3/(ha.a);m3.har-1.a-1;cubic metre per hectare year	
M3-PER-MIN-K	A0E0L3I0M0H-1T-1D0	1/60	m3/(min.K);m3.min-1.K-1;cubic metre per minute kelvin	G71
M3-PER-SEC-K	A0E0L3I0M0H-1T-1D0	1	m3/(s.K);m3.s-1.K-1;cubic metre per second kelvin	G72
MIN_Sidereal	time	59836170	min{sidereal};sidereal minute	
nmi/min	speed	3086666666666666666666666666666667/100000000000000000000000000000000	[nmi_i].min-1;nautical mile per minute	MI_N-PER-MIN
MOL-PER-M3-K	A1E0L-3I0M0H-1T0D0	1	mol/(m3.K);mol.m-3.K-1;mole per cubic metre kelvin	L28
MOL_LB-DEG_F	temperature amount of substance	2519957611111111111111111111111111/10000000000000000000000000000000	lb-mol.°F;[mol_lb].[degF];pound mole degree fahrenheit	
MA/m2	electric current density	1000000	MA.m-2;megaampere per square metre;A/mm2;A.mm-2;ampere per square millimetre	MegaA-PER-M2;B66;A-PER-MilliM2;A7
MC/m2	electric charge per area	1000000	MC.m-2;megacoulomb per square metre;C/mm2;C.mm-2;coulomb per square millimetre	MegaC-PER-M2;B70;C-PER-MilliM2;A35
MC/m3	electric charge volume density	1000000	MC.m-3;megacoulomb per cubic metre;C/cm3;C.cm-3;coulomb per cubic centimetre	MegaC-PER-M3;B69;C-PER-CentiM3;A28
MHz/K	inverse time temperature	1000000	MHz.K-1;megahertz per kelvin	MegaHZ-PER-K
MHz/T	electric charge per mass	1000000	MHz.T-1;megahertz per tesla	MegaHZ-PER-T
MJ/h	power	2500/9	MJ.h-1;megajoule per hour	MegaJ-PER-HR;P16
MJ/m2	energy per area	1000000	MJ.m-2;megajoule per square metre;MN.m/m2;MN.m.m-2;meganewton metre per square metre	MegaJ-PER-M2;MegaN-M-PER-M2
MJ/m3	energy density	1000000	MJ.m-3;megajoule per cubic metre	MegaJ-PER-M3;JM
MN/m3	pressure gradient	1000000	MN.m-3;meganewton per cubic metre;kPa/mm;kPa.mm-1;kilopascal per millimetre	MegaN-PER-M3;KiloPA-PER-MilliM;34
MPa/K	pressure coefficient	1000000	MPa.K-1;megapascal per kelvin;J-PER-CentiM3-K;J/(cm3.K);J.cm-3.K-1;joule per cubic centimetre kelvin	MegaPA-PER-K;F85
uA/K	electric current per temperature	1/1000000	uA.K-1;microampere per kelvin	MicroA-PER-K
uGal	acceleration	1/100000000	microgalileo	MicroGALILEO
uH/m	electromagnetic permeability	1/1000000	uH.m-1;microhenry per metre	MicroH-PER-M;B91
um/K	linear thermal expansion	1/1000000	um.K-1;micrometre per kelvin	MicroM-PER-K;F50
um/N	spectral angular cross section	1/1000000	um.N-1;micrometre per newton	MicroM-PER-N
uV/m	electric field strength	1/1000000	uV.m-1;microvolt per metre;abV/cm;10.nV.cm-1;abvolt per centimetre	MicroV-PER-M;C3;V_Ab-PER-CentiM
mA/K	electric current per temperature	1/1000	mA.K-1;milliampere per kelvin	MilliA-PER-K
mGal	acceleration	1/100000	milligalileo	MilliGALILEO;C11
mL/K	volume thermal expansion	1/1000000	mL.K-1;millilitre per kelvin;cm3/K;cm3.K-1;cubic centimetre per kelvin	MilliL-PER-K;G30;CentiM3-PER-K;G27
mm/K	linear thermal expansion	1/1000	mm.K-1;millimetre per kelvin	MilliM-PER-K;F53
mN/m	energy per area	1/1000	mN.m-1;millinewton per metre;mJ/m2;mJ.m-2;millijoule per square metre;dyn/cm;dyn.cm-1;dyne per centimetre;erg/cm2;erg.cm-2;erg per square centimetre;mN.m/m2;mN.m.m-2;millinewton metre per square metre	MilliN-PER-M;C22;MilliJ-PER-M2;DYN-PER-CentiM;DX;ERG-PER-CentiM2;MilliN-M-PER-M2
mV/m	electric field strength	1/1000	mV.m-1;millivolt per metre	MilliV-PER-M;C30
N/cm	energy per area	100	N.cm-1;newton per centimetre	N-PER-CentiM;M23
ozf/in3	pressure gradient	8896443230521/524386048	[ozf_av].[in_i]-3;imperial ounce force per cubic inch	OZ_F-PER-IN3;L39
Pa.s/K	A0E0L-1I0M1H-1T-1D0	1	Pa.s.K-1;pascal second per kelvin	PA-SEC-PER-K;F77
Pa.s/L	pressure in relation to volume flow rate	1000	Pa.s.L-1;pascal second per litre	PA-SEC-PER-L;M32
Pa2/s2	A0E0L-2I0M2H0T-6D0	1	Pa2.s-2;square pascal per square second	PA2-PER-SEC2
PER-ANGSTROM	inverse length	10000000000	Ao-1;reciprocal angstrom	/Å;C85
PK_UK-PER-HR	flow	1262802916666666666666666666666667/500000000000000000000000000000000000000	peck{UK}/h;[pk_br].h-1;peck (uk) per hour	L45
pCi/L	radioactivity concentration	37	pCi.L-1;picocurie per litre	PicoCI-PER-L
planckcharge	charge	187554587/100000000000000000000000000	planck charge	PlanckCharge
PlanckEnergy	energy	1956100000	planck energy	Eᵨ
plancklength	length	404063/25000000000000000000000000000000000000000	planck length	PlanckLength
PlanckVolume	volume	422419/100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	l3ₚ;planck volume	
QT_UK-PER-HR	flow	631401388888888888888888888888889/2000000000000000000000000000000000000000	qt{UK}/h;[qt_br].h-1;quart (uk) per hour	K95
QT_US-PER-HR	flow	157725491/600000000000000	qt{US liq}/h;[qt_us].h-1;us liquid quart per hour	K99
rev/s2	angular acceleration	31415926535897932384626433832795028841971693993751/5000000000000000000000000000000000000000000000000	{#}.s-2;revolution per square second	REV-PER-SEC2
S.m2/mol	molar conductivity	1	S.m2.mol-1;siemens square metre per mole	S-M2-PER-MOL;D12
slug/d	mass flow rate	8896443230521/52669440000000000	slug per day	SLUG-PER-DAY;L63
slug/ft2	mass per area	8896443230521/56633693184	slug per square foot	SLUG-PER-FT2
slug/ft3	concentration	5560277019075625/10788718551552	slug per cubic foot	SLUG-PER-FT3;L65
slug/min	mass flow rate	8896443230521/36576000000000	slug per minute	SLUG-PER-MIN;L67
slug/s	mass flow rate	8896443230521/609600000000	slug per second	SLUG-PER-SEC;L68
SpeedOfLight	SpeedOfLight alone	1	speed of light	
t/ha	mass per area	1/10	t.har-1;tonne per hectare;Mg/ha;Mg.har-1;megagram per hectare;metric ton per hectare	TONNE-PER-HA;MegaGM-PER-HA;TON_Metric-PER-HA
t/h	mass flow rate	5/18	t.h-1;tonne per hour;metric ton per hour	TONNE-PER-HR;E18;TON_Metric-PER-HR
t/mo	mass flow rate	489918846612702035163963625264263/1250000000000000000000000000000000000	t.mo-1;tonne per month	TONNE-PER-MO;M88
t/a	mass flow rate	5/157788	t.a-1;tonne per year	TONNE-PER-YR;M89
TON_Register	volume	55306341/19531250	ton, register	RT;M70
V/cm	electric field strength	100	V.cm-1;volt per centimetre	V-PER-CentiM;D47
YD-PER-DEG_F	linear thermal expansion	10287/6250	yd/°F;[yd_i].[degF]-1;yard per degree fahrenheit	L98
A/cm2	electric current density	10000	A.cm-2;ampere per square centimetre	A-PER-CentiM2;A4
BILLION_Short	count	1000000000	billion (short scale)	
Bq/kg	specific activity	1	Bq.kg-1;becquerel per kilogram;mBq/g;mBq.g-1;millibecquerel per gram;PER-KiloGM-SEC;/(kg.s);kg-1.s-1;reciprocal kilogram second	BQ-PER-KiloGM;A18;MilliBQ-PER-GM
BTU_IT-PER-HR	power	65941/225000	Btu{IT}/h;[Btu_IT].h-1;british thermal unit (international definition) per hour	2I
BTU_IT-PER-LB	absorbed dose	105505600000/45359237	Btu{IT}/lbm;[Btu_IT].[lb_av]-1;british thermal unit (international definition) per pound mass	AZ
BTU_TH-PER-HR	power	1464375367361111111111111111111111/5000000000000000000000000000000000	Btu{th}/h;[Btu_th].h-1;british thermal unit (thermochemical definition) per hour	J47
BTU_TH-PER-LB	absorbed dose	2324444444468940251353875286746997/1000000000000000000000000000000	Btu{th}/lbm;[Btu_th].[lb_av]-1;british thermal unit (thermochemical definition) per pound mass	
BU_UK-PER-DAY	flow	4209342592592592592592592592592591/10000000000000000000000000000000000000000	bsh{UK}/d;[bu_br].d-1;bushel (uk) per day	J64
BU_UK-PER-MIN	flow	1212290666666666666666666666666667/2000000000000000000000000000000000000	bsh{UK}/min;[bu_br].min-1;bushel (uk) per minute	J66
BU_UK-PER-SEC	flow	454609/12500000	bsh{UK}/s;[bu_br].s-1;bushel (uk) per second	J67
C/cm2	electric charge per area	10000	C.cm-2;coulomb per square centimetre	C-PER-CentiM2;A33
CAL_IT-PER-GM	absorbed dose	20934/5	cal{IT}/g;cal_IT.g-1;international table calorie per gram	D75
cal/g	absorbed dose	4184	cal_th.g-1;thermochemical calorie per gram	CAL_TH-PER-GM;B36
cd/klm	CD-PER-KiloLM alone	1/1000	cd.klm-1;candela per kilolumen	CD-PER-KiloLM
Ci/kg	specific activity	37000000000	Ci.kg-1;curie per kilogram	CI-PER-KiloGM;A42
cm/h	speed	1/360000	cm.h-1;centimetre per hour	CentiM-PER-HR;H49
cm/a	speed	1/3155760000	cm.a-1;centimetre per year	CentiM-PER-YR
DEG_F-PER-BAR	A0E0L1I0M-1H1T2D0	1/180000	°F/bar;[degF].bar-1;degree fahrenheit per bar	J21
DEG_F-PER-MIN	temperature per time	1/108	°F/min;[degF].min-1;degree fahrenheit per minute;DEG_R-PER-MIN;°R/min;[degR].min-1;degree rankine per minute	J24;J29
DEG_F-PER-SEC	temperature per time	5/9	°F/s;[degF].s-1;degree fahrenheit per second;DEG_R-PER-SEC;°R/s;[degR].s-1;degree rankine per second	J25;J30
Eib/m	inverse length	1152921504606846976	exbibit per metre	ExbiBIT-PER-M;E65
frame/s	frame rate	1	s-1{frame};frame per second	FRAME-PER-SEC
ft.h/in3	A0E0L-2I0M0H0T1D0	1080000000000/16129	[ft_i].h.[in_i]-3;foot hour per cubic inch	FT-HR-PER-IN3
FT2-SEC-DEG_F	area time temperature	16129/312500	ft2.s.°F;[ft_i]2.s.[degF];square foot second degree fahrenheit	
FT3-PER-DEG_F	volume thermal expansion	497757069/9765625000	ft3/°F;[ft_i]3.[degF]-1;cubic foot per degree fahrenheit	K21
GAL_UK-PER-HR	flow	454609/360000000000	gal{UK}/h;[gal_br].h-1;gallon (uk) per hour	K27
GAL_US-PER-HR	flow	157725491/150000000000000	gal{US}/h;[gal_us].h-1;us gallon per hour	G50
GI_UK-PER-DAY	flow	328854861111111111111111111111111/200000000000000000000000000000000000000000	gill{UK}/d;[gil_br].d-1;gill (uk) per day	K32
GI_UK-PER-MIN	flow	473551/200000000000	gill{UK}/min;[gil_br].min-1;gill (uk) per minute	K34
GI_UK-PER-SEC	flow	1420653/10000000000	gill{UK}/s;[gil_br].s-1;gill (uk) per second	K35
GI_US-PER-DAY	flow	157725491/115200000000000000	gill{US}/d;[gil_us].d-1;gill (us) per day	K36
GI_US-PER-MIN	flow	157725491/80000000000000	gill{US}/min;[gil_us].min-1;gill (us) per minute	K38
GI_US-PER-SEC	flow	473176473/4000000000000	gill{US}/s;[gil_us].s-1;gill (us) per second	K39
g.min/L2	A0E0L-6I0M1H0T1D0	60000	g.min.L-2;gram minute per square litre;GM-MIN-PER-M3-CentiM3;g.min/(m3.cm3);g.min.m-3.cm-3;gram minute per cubic metre cubic centimetre;MilliGM-MIN-PER-L-CentiM3;mg.min/(L.cm3);mg.min.L-1.cm-3;milligram minute per litre cubic centimetre	GM-MIN-PER-L2
g.min/m6	A0E0L-6I0M1H0T1D0	3/50	g.min.m-6;gram minute per sextic metre;MilliGM-MIN-PER-L-M3;mg.min/(L.m3);mg.min.L-1.m-3;milligram minute per litre cubic metre;MilliGM-MIN-PER-M3-L;mg.min/(m3.L);mg.min.m-3.L-1;milligram minute per cubic metre litre	GM-MIN-PER-M6
GM-PER-HR-BAR	thruster power to thrust efficiency	1/360000000000	g/(h.bar);g.h-1.bar-1;gram per hour bar	F63
GM-PER-M2-DAY	mass per area time	1/86400000	g/(m2.d);g.m-2.d-1;gram per square metre day	
GM-PER-M3-BAR	mass per energy	1/100000000	g/(m3.bar);g.m-3.bar-1;gram per cubic metre bar	G14
g.s/L2	A0E0L-6I0M1H0T1D0	1000	g.s.L-2;gram second per square litre;GM-SEC-PER-M3-CentiM3;g.s/(m3.cm3);g.s.m-3.cm-3;gram second per cubic metre cubic centimetre;MilliGM-SEC-PER-L-CentiM3;mg.s/(L.cm3);mg.s.L-1.cm-3;milligram second per litre cubic centimetre	GM-SEC-PER-L2
g.s/m6	A0E0L-6I0M1H0T1D0	1/1000	g.s.m-6;gram second per sextic metre;MilliGM-SEC-PER-L-M3;mg.s/(L.m3);mg.s.L-1.m-3;milligram second per litre cubic metre;MilliGM-SEC-PER-M3-L;mg.s/(m3.L);mg.s.m-3.L-1;milligram second per cubic metre litre	GM-SEC-PER-M6
Gib/m	inverse length	1073741824	Gibit.m-1;gibibit per metre	GibiBIT-PER-M;E69
Gohm/m	linear resistance	1000000000	GOhm.m-1;gigaohm per metre	GigaOHM-PER-M;M26
hPa/K	pressure coefficient	100	hPa.K-1;hectopascal per kelvin;mbar/K;mbar.K-1;millibar per kelvin	HectoPA-PER-K;F82;MilliBAR-PER-K;F84
hPa/m	pressure gradient	100	hPa.m-1;hectopascal per metre	HectoPA-PER-M;P82
IN_HG_32DEG_F	pressure	169319/50	inHg (32 °F);inch of mercury (32 °f)	N16
IN_HG_60DEG_F	pressure	67537/20	inHg (60 °F);inch of mercury (60 °f)	N17
IU/mL	IU-PER-MilliL alone	1	[IU].mL-1;international unit per millilitre	IU-PER-MilliL
J/cm2	energy per area	10000	J.cm-2;joule per square centimetre	J-PER-CentiM2;E43
J.s/mol	molar angular momentum	1	J.s.mol-1;joule second per mole	J-SEC-PER-MOL
ksi	pressure	6894757293168361336722673445346887/1000000000000000000000000000	kip/in2;k[lbf_av].[in_i]-2;kip per square inch	KIP_F-PER-IN2;N20
Kib/m	inverse length	1024	Kibit.m-1;kibibit per metre	KibiBIT-PER-M;E72
kg/ha	mass per area	1/10000	kg.har-1;kilogram per hectare;mg/dm2;mg.dm-2;milligram per square decimetre	KiloGM-PER-HA;MilliGM-PER-DeciM2
kg/h	mass flow rate	1/3600	kg.h-1;kilogram per hour	KiloGM-PER-HR;E93
kg/m2	mass per area	1	kg.m-2;kilogram per square metre	KiloGM-PER-M2;28
kg/a	mass flow rate	1/31557600	kg.a-1;kilogram per year	KiloGM-PER-YR
kJ/d	power	5/432	kJ.d-1;kilojoule per day	KiloJ-PER-DAY;P21
kJ/min	power	50/3	kJ.min-1;kilojoule per minute	KiloJ-PER-MIN;P19
kJ/mol	molar energy	1000	kJ.mol-1;kilojoule per mole	KiloJ-PER-MOL;B44
klbm/h	mass flow rate	45359237/360000000	k[lb_av].h-1;kilo pound mass per hour	KiloLB-PER-HR;M90
km/d	speed	5/432	km.d-1;kilometre per day	KiloM-PER-DAY
kohm/K	A0E-2L2I0M1H-1T-3D0	1000	kOhm.K-1;kiloohm per kelvin	KiloOHM-PER-K
kohm/m	linear resistance	1000	kOhm.m-1;kiloohm per metre;Mohm/km;MOhm.km-1;megaohm per kilometre	KiloOHM-PER-M;MegaOHM-PER-KiloM;H36
KiloW-PER-M-K	thermal conductivity	1000	kW/(m.K);kW.m-1.K-1;kilowatt per metre kelvin;KiloW-PER-M-DEG_C;kW/(m.°C);kW.m-1.Cel-1;kilowatt per metre degree celsius	N81;N82
L-PER-DAY-BAR	A0E0L4I0M-1H0T1D0	1/8640000000000	L/(d.bar);L.d-1.bar-1;litre per day bar	G82
L-PER-MIN-BAR	A0E0L4I0M-1H0T1D0	1/6000000000	L/(min.bar);L.min-1.bar-1;litre per minute bar	G84
L-PER-MOL-SEC	atmospheric hydroxylation rate	1/1000	L/(mol.s);L.mol-1.s-1;litre per mole second	
L-PER-SEC-BAR	A0E0L4I0M-1H0T1D0	1/100000000	L/(s.bar);L.s-1.bar-1;litre per second bar	G85
lbm.ft/s	linear momentum	17281869297/125000000000	[lb_av].[ft_i].s-1;pound mass foot per second	LB-FT-PER-SEC;N10
lbm.h/ft6	A0E0L-6I0M1H0T1D0	692127029418945312500/339865706089809	[lb_av].h.[ft_i]-6;pound mass hour per sextic foot	LB-HR-PER-FT6
lbm.h/in6	A0E0L-6I0M1H0T1D0	25514570812500000000000000/4195872914689	[lb_av].h.[in_i]-6;pound mass hour per sextic inch	LB-HR-PER-IN6
lbm.in/s	linear momentum	5760623099/500000000000	[lb_av].[in_i].s-1;pound mass inch per second	LB-IN-PER-SEC;N11
LB-PER-FT-DAY	dynamic viscosity	45359237/2633472000000	lbm/(ft.d);[lb_av].[ft_i]-1.d-1;pound mass per foot day	N44
LB-PER-FT-MIN	dynamic viscosity	45359237/1828800000	lbm/(ft.min);[lb_av].[ft_i]-1.min-1;pound mass per foot minute	N43
LB-PER-FT-SEC	dynamic viscosity	45359237/30480000	lbm/(ft.s);[lb_av].[ft_i]-1.s-1;pound mass per foot second;pdl.s/ft2;[lb_av].[ft_i].s-2.s.[ft_i]-2;poundal second per square foot	K68;PDL-SEC-PER-FT2
LB-PER-GAL_UK	concentration	45359237/454609	lbm/gal{UK};[lb_av].[gal_br]-1;pound mass per gallon (uk);LB-PER-GAL_IMP;lbm/gal{Imp};pound mass per imperial gallon	K71
LB-PER-GAL_US	concentration	736351250/6145149	lbm/gal{US};[lb_av].[gal_us]-1;pound mass per us gallon	GE
LB-PER-HR-PSI	thruster power to thrust efficiency	16129/882598500000	lbm/(h.psi);[lb_av].h-1.[psi]-1;pound mass per hour psi	K74
M-PER-SEC-BAR	A0E0L2I0M-1H0T1D0	1/100000	m/(s.bar);m.s-1.bar-1;metre per second bar	L13
M2-PER-HZ-DEG	area time	1800000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	m2/(Hz.°);m2.Hz-1.deg-1;square metre per hertz degree	
m2/kg	mass attenuation coefficient	1	m2.kg-1;square metre per kilogram;rad.m2/kg;rad.m2.kg-1;radian square metre per kilogram	M2-PER-KiloGM;D21;RAD-M2-PER-KiloGM;C83
M2-PER-SEC-PA	A0E0L3I0M-1H0T1D0	1	m2/(s.Pa);m2.s-1.Pa-1;square metre per second pascal	M82
M2-PER-SEC2-K	specific heat capacity	1	m2/(s2.K);m2.s-2.K-1;square metre per square second kelvin;J-PER-KiloGM-K;J/(kg.K);J.kg-1.K-1;joule per kilogram kelvin;J-PER-KiloGM-DEG_C;J/(kg.°C);J.kg-1.Cel-1;joule per kilogram degree celsius	B11
M3-PER-HR-BAR	A0E0L4I0M-1H0T1D0	1/360000000	m3/(h.bar);m3.h-1.bar-1;cubic metre per hour bar	G87
m3/kg	specific volume	1	m3.kg-1;cubic metre per kilogram	M3-PER-KiloGM;A39
M3-PER-SEC-PA	A0E0L4I0M-1H0T1D0	1	m3/(s.Pa);m3.s-1.Pa-1;cubic metre per second pascal	N45
min/km	vapour permeance	3/50	min.km-1;minute per kilometre	MIN-PER-KiloM
MOL-PER-GM-HR	biogeochemical rate	5/18	mol/(g.h);mol.g-1.h-1;mole per gram hour	
MOL-PER-L-BAR	A1E0L-2I0M-1H0T2D0	1/100	mol/(L.bar);mol.L-1.bar-1;mole per litre bar;KiloMOL-PER-M3-BAR;kmol/(m3.bar);kmol.m-3.bar-1;kilomole per cubic metre bar	L27;K60
MOL-PER-M3-PA	A1E0L-2I0M-1H0T2D0	1	mol/(m3.Pa);mol.m-3.Pa-1;mole per cubic metre pascal	P52
mol/t	amount of substance per mass	1/1000	mol.t-1;mole per tonne;umol/g;umol.g-1;micromole per gram;mmol/kg;mmol.kg-1;millimole per kilogram	MOL-PER-TONNE;MicroMOL-PER-GM;MilliMOL-PER-KiloGM;D87
lb-mol/lbm	amount of substance per mass	4999999999999999999999999999999999/5000000000000000000000000000000	[mol_lb].[lb_av]-1;pound mole per pound mass	MOL_LB-PER-LB;P48
MOMME_Textile	mass	217/50000	momme (textile)	
MO_MeanJulian	time	2629800000000	mo{mean Julian};mo_j;mean julian month	
Mib/m	inverse length	1048576	Mibit.m-1;mebibit per metre	MebiBIT-PER-M;E75
MeV.fm	thermal energy length	801088317/5000000000000000000000000000000000000	mega electron volt femtometre	MegaEV-FemtoM
Mohm/K	A0E-2L2I0M1H-1T-3D0	1000000	MOhm.K-1;megaohm per kelvin	MegaOHM-PER-K
Mohm/m	linear resistance	1000000	MOhm.m-1;megaohm per metre	MegaOHM-PER-M;H37
MegaPA-M0dot5	stress intensity factor	1000000	MPa√m	
uC/m2	electric charge per area	1/1000000	uC.m-2;microcoulomb per square metre	MicroC-PER-M2;B88
uC/m3	electric charge volume density	1/1000000	uC.m-3;microcoulomb per cubic metre	MicroC-PER-M3;B87
uVA/K	thermal conductance	1/1000000	uVA.K-1;micro volt ampere per kelvin;uvar/K;uvar.K-1;micro volt ampere reactive per kelvin	MicroVA-PER-K;MicroVAR-PER-K
mA/in	magnetic field strength	5/127	mA.[in_i]-1;milliampere per inch	MilliA-PER-IN;F08
mC/m2	electric charge per area	1/1000	mC.m-2;millicoulomb per square metre	MilliC-PER-M2;D89
mC/m3	electric charge volume density	1/1000	mC.m-3;millicoulomb per cubic metre	MilliC-PER-M3;D88
mg/K	A0E0L0I0M1H-1T0D0	1/1000000	mg.K-1;milligram per kelvin	MilliGM-PER-K;F16
mL/h	flow	1/3600000000	mL.h-1;millilitre per hour;cm3/h;cm3.h-1;cubic centimetre per hour	MilliL-PER-HR;G55;CentiM3-PER-HR;G48
mm/a	speed	1/31557600000	mm.a-1;millimetre per year	MilliM-PER-YR;H66
mPa/m	pressure gradient	1/1000	mPa.m-1;millipascal per metre	MilliPA-PER-M;P80
mVA/K	thermal conductance	1/1000	mVA.K-1;milli volt ampere per kelvin;mvar/K;mvar.K-1;milli volt ampere reactive per kelvin	MilliVA-PER-K;MilliVAR-PER-K
N-M-PER-DEG-M	force	1800000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	N.m/(°.m);N.m.deg-1.m-1;newton metre per degree metre	
NUM-PER-HA-YR	flux	1/315576000000	#/(ha.a);{#}.har-1.a-1;number per hectare year	
NUM-PER-NanoL	inverse volume	1000000000000	#/nL;{#}.nL-1;number per nanolitre	
NUM-PER-PicoL	inverse volume	1000000000000000	#/pL;{#}.pL-1;number per picolitre	
nkat/L	catalytic activity concentration	1/1000000	nkat.L-1;nanokatal per litre	NanoKAT-PER-L
ohm/km	linear resistance	1/1000	Ohm.km-1;ohm per kilometre;mohm/m;mOhm.m-1;milliohm per metre	OHM-PER-KiloM;F56;MilliOHM-PER-M;F54
oz.h/in6	A0E0L-6I0M1H0T1D0	1594660675781250000000000/4195872914689	[oz_av].h.[in_i]-6;ounce mass hour per sextic inch	OZ-HR-PER-IN6
OZ-PER-GAL_UK	concentration	45359237/7273744	oz/gal{UK};[oz_av].[gal_br]-1;ounce mass per gallon (uk);OZ-PER-GAL_IMP;oz/gal{Imp};ounce mass per imperial gallon	L37
OZ-PER-GAL_US	concentration	368175625/49161192	oz/gal{US};[oz_av].[gal_us]-1;ounce mass per us gallon	L38
Pa.m/s2	A0E0L0I0M1H0T-4D0	1	Pa.m.s-2;pascal metre per square second	PA-M-PER-SEC2
Pa.s/m3	pressure in relation to volume flow rate	1	Pa.s.m-3;pascal second per cubic metre	PA-SEC-PER-M3;C66
PER-KiloVA-HR	inverse energy	1/3600000	/(kVA.h);kVA-1.h-1;reciprocal kilo volt ampere hour	
%/K	thermal expansion coefficient	1/100	%.K-1;percent per kelvin;PERCENT-PER-DEG_C;%/°C;%.Cel-1;percent per degree celsius	PERCENT-PER-K;H25;M25
%/m	inverse length	1/100	%.m-1;percent per metre	PERCENT-PER-M;H99
%/V	reciprocal voltage	1/100	%.V-1;percent per volt	PERCENT-PER-V;H95
PK_UK-PER-DAY	flow	1052335763888888888888888888888889/10000000000000000000000000000000000000000	peck{UK}/d;[pk_br].d-1;peck (uk) per day	L44
PK_UK-PER-MIN	flow	3030727/20000000000	peck{UK}/min;[pk_br].min-1;peck (uk) per minute	L46
PK_UK-PER-SEC	flow	9092181/1000000000	peck{UK}/s;[pk_br].s-1;peck (uk) per second	L47
psi.L/s	power	8896443230521/1290320000000	[psi].L.s-1;psi litre per second	PSI-L-PER-SEC;K88
Pib/m	inverse length	1125899906842624	pebibit per metre	PebiBIT-PER-M;E80
pkat/L	catalytic activity concentration	1/1000000000	pkat.L-1;picokatal per litre	PicoKAT-PER-L
planckcurrent	current	34789000000000000000000000	planck current	PlanckCurrent
planckdensity	concentration	5155000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	planck density	PlanckDensity
QT_UK-PER-DAY	flow	263083912037037037037037037037037/20000000000000000000000000000000000000000	qt{UK}/d;[qt_br].d-1;quart (uk) per day	K94
QT_UK-PER-MIN	flow	1894204166666666666666666666666667/100000000000000000000000000000000000000	qt{UK}/min;[qt_br].min-1;quart (uk) per minute	K96
QT_UK-PER-SEC	flow	454609/400000000	qt{UK}/s;[qt_br].s-1;quart (uk) per second	K97
QT_US-PER-DAY	flow	157725491/14400000000000000	qt{US liq}/d;[qt_us].d-1;us liquid quart per day	K98
QT_US-PER-MIN	flow	157725491/10000000000000	qt{US liq}/min;[qt_us].min-1;us liquid quart per minute	L10
QT_US-PER-SEC	flow	473176473/500000000000	qt{US liq}/s;[qt_us].s-1;us liquid quart per second	L11
THM_US-PER-HR	power	2930011111111111111111111111111111/100000000000000000000000000000	thm{US}/h;100000.[Btu_59].h-1;therm us per hour	
t/bar	A0E0L1I0M0H0T2D0	1/100	t.bar-1;tonne per bar;metric ton per bar	TONNE-PER-BAR;L70;TON_Metric-PER-BAR
t/d	mass flow rate	5/432	t.d-1;tonne per day;metric ton per day	TONNE-PER-DAY;L71;TON_Metric-PER-DAY
t/min	mass flow rate	50/3	t.min-1;tonne per minute;metric ton per minute	TONNE-PER-MIN;L78;TON_Metric-PER-MIN
t/s	mass flow rate	1000	t.s-1;tonne per second;metric ton per second	TONNE-PER-SEC;L81;TON_Metric-PER-SEC
TON_UK-PER-HR	mass flow rate	317514659/1125000000	ton{UK}/h;[lton_av].h-1;ton (uk) per hour	
TON_US-PER-HR	mass flow rate	45359237/180000000	ton{US}/h;[ston_av].h-1;ton (us) per hour;TON_SHORT-PER-HR;ton{short}/h;short ton per hour	4W;E18
Tib/m	inverse length	1099511627776	Tibit.m-1;tebibit per metre	TebiBIT-PER-M;E85
statV.cm	electric flux	149896229/50000000	statvolt centimetre	V_Stat-CentiM
W/cm2	irradiance	10000	W.cm-2;watt per square centimetre	W-PER-CentiM2;N48
YD3-PER-DEG_F	volume thermal expansion	13439440863/9765625000	yd3/°F;[yd_i]3.[degF]-1;cubic yard per degree fahrenheit	M11
A-HR-PER-DEG_C	A0E1L0I0M0H-1T1D0	3600	A.h/°C;A.h.Cel-1;ampere hour per degree celsius	
atm.m3/mol	molar energy	101325	atm.m3.mol-1;standard atmosphere cubic metre per mole	ATM-M3-PER-MOL
bar.m3/s	power	100000	bar.m3.s-1;bar cubic metre per second	BAR-M3-PER-SEC;F92
BBL_US-PER-DAY	flow	460032696759259259259259259259259/250000000000000000000000000000000000000	bbl{US petroleum}/d;[bbl_us].d-1;barrel (us) per day	B1
BBL_US-PER-MIN	flow	1324894166666666666666666666666667/500000000000000000000000000000000000	bbl{US petroleum}/min;[bbl_us].min-1;barrel (us) per minute	5A
breath/min	respiratory rate	1666666666666666666666666666666667/100000000000000000000000000000000000	min-1{breath};breath per minute	BREATH-PER-MIN
BTU_IT-PER-FT2	energy per area	1648525000/145161	Btu{IT}/ft2;[Btu_IT].[ft_i]-2;british thermal unit (international definition) per square foot	P37
BTU_IT-PER-FT3	energy density	2060656250000/55306341	Btu{IT}/ft3;[Btu_IT].[ft_i]-3;british thermal unit (international definition) per cubic foot	N58
BTU_IT-PER-MIN	power	65941/3750	Btu{IT}/min;[Btu_IT].min-1;british thermal unit (international definition) per minute	J44
BTU_IT-PER-SEC	power	131882/125	Btu{IT}/s;[Btu_IT].s-1;british thermal unit (international definition) per second	J45
BTU_TH-PER-FT2	energy per area	567446589745610046775649106853769/50000000000000000000000000000	Btu{th}/ft2;[Btu_th].[ft_i]-2;british thermal unit (thermochemical definition) per square foot	P38
BTU_TH-PER-FT3	energy density	3723402819853084296428143745759641/100000000000000000000000000000	Btu{th}/ft3;[Btu_th].[ft_i]-3;british thermal unit (thermochemical definition) per cubic foot	N59
BTU_TH-PER-MIN	power	878625220416666666666666666666667/50000000000000000000000000000000	Btu{th}/min;[Btu_th].min-1;british thermal unit (thermochemical definition) per minute	J51
BTU_TH-PER-SEC	power	2108700529/2000000	Btu{th}/s;[Btu_th].s-1;british thermal unit (thermochemical definition) per second	J52
cal/min	power	523/7500	cal_th.min-1;thermochemical calorie per minute	CAL_TH-PER-MIN;J81
cal/s	power	523/125	cal_th.s-1;thermochemical calorie per second	CAL_TH-PER-SEC;J82
statC/mol	electric charge per amount of substance	8339102379953801239389417861873/25000000000000000000000000000000000000000	statcoulomb per mole	C_Stat-PER-MOL
cm/bar	A0E0L2I0M-1H0T2D0	1/10000000	cm.bar-1;centimetre per bar	CentiM-PER-BAR;G04
cm/s	speed	1/100	cm.s-1;centimetre per second;MilliL-PER-CentiM2-SEC;mL/(cm2.s);mL.cm-2.s-1;millilitre per square centimetre second	CentiM-PER-SEC;2M;35
cm2/g	mass attenuation coefficient	1/10	cm2.g-1;square centimetre per gram	CentiM2-PER-GM;H15
DEGREE_BALLING	DEGREE_BALLING alone	1	°Balling;degree balling	J17
DEGREE_OECHSLE	DEGREE_OECHSLE alone	1	°Oe;degree oechsle	J27
DEG_C2-PER-SEC	A0E0L0I0M0H2T-1D0	1	°C2/s;Cel2.s-1;square degree celsius per second	
DEG_F-PER-SEC2	temperature per square time	5/9	°F/s2;[degF].s-2;degree fahrenheit per square second	
dbar/a	force per area time	25/78894	dbar.a-1;decibar per year	DeciBAR-PER-YR
ERG-PER-GM-SEC	absorbed dose rate	1/10000	erg/(g.s);erg.g-1.s-1;erg per gram second	A62
Eib/m2	area bit density	1152921504606846976	exbibit per square metre	ExbiBIT-PER-M2;E66
Eib/m3	inverse volume	1152921504606846976	exbibit per cubic metre	ExbiBIT-PER-M3;E67
ft.lbf/h	power	1129848290276167/3000000000000000000	[ft_i].[lbf_av].h-1;foot pound force per hour	FT-LB_F-PER-HR;K15
ft.lbf/m2	energy per area	3389544870828501/2500000000000000	[ft_i].[lbf_av].m-2;foot pound force per square metre	FT-LB_F-PER-M2
FT-PER-SEC-PSI	A0E0L2I0M-1H0T1D0	393289536/8896443230521	ft/(s.psi);[ft_i].s-1.[psi]-1;foot per second psi	K19
ft.s/in3	A0E0L-2I0M0H0T1D0	300000000/16129	[ft_i].s.[in_i]-3;foot second per cubic inch	FT-SEC-PER-IN3
GAL_UK-PER-DAY	flow	454609/8640000000000	gal{UK}/d;[gal_br].d-1;gallon (uk) per day	K26
GAL_UK-PER-MIN	flow	454609/6000000000	gal{UK}/min;[gal_br].min-1;gallon (uk) per minute	G3
GAL_UK-PER-SEC	flow	454609/100000000	gal{UK}/s;[gal_br].s-1;gallon (uk) per second	K28
GAL_US-PER-DAY	flow	157725491/3600000000000000	gal{US}/d;[gal_us].d-1;us gallon per day	GB
GAL_US-PER-SEC	flow	473176473/125000000000	gal{US}/s;[gal_us].s-1;us gallon per second	K30
GM-HR-PER-L-M3	A0E0L-6I0M1H0T1D0	3600	g.h/(L.m3);g.h.L-1.m-3;gram hour per litre cubic metre;GM-HR-PER-M3-L;g.h/(m3.L);g.h.m-3.L-1;gram hour per cubic metre litre;mg.h/L2;mg.h.L-2;milligram hour per square litre;MilliGM-HR-PER-M3-CentiM3;mg.h/(m3.cm3);mg.h.m-3.cm-3;milligram hour per cubic metre cubic centimetre	MilliGM-HR-PER-L2
g/cm2	mass per area	10	g.cm-2;gram per square centimetre	GM-PER-CentiM2;25
GM-PER-DAY-BAR	thruster power to thrust efficiency	1/8640000000000	g/(d.bar);g.d-1.bar-1;gram per day bar	F62
GM-PER-L-POISE	A0E0L-2I0M0H0T1D0	10	g/(L.P);g.L-1.P-1;gram per litre poise	
GM-PER-MIN-BAR	thruster power to thrust efficiency	1/6000000000	g/(min.bar);g.min-1.bar-1;gram per minute bar	F64
g/mm2	mass per area	1000	g.mm-2;gram per square millimetre	GM-PER-MilliM2;N24
GM-PER-SEC-BAR	thruster power to thrust efficiency	1/100000000	g/(s.bar);g.s-1.bar-1;gram per second bar	F65
GRAIN-PER-LB_M	ratio	1/7000	gr{UK}/lbm;[gr].[lb_av]-1;grain per pound mass	
Gib/m2	area bit density	1073741824	Gibit.m-2;gibibit per square metre	GibiBIT-PER-M2;E70
Gib/m3	inverse volume	1073741824	Gibit.m-3;gibibit per cubic metre	GibiBIT-PER-M3;E71
hPa/h	force per area time	1/36	hPa.h-1;hectopascal per hour	HectoPA-PER-HR
IN-PER-SEC-PSI	A0E0L2I0M-1H0T1D0	32774128/8896443230521	in/(s.psi);[in_i].s-1.[psi]-1;inch per second psi	K48
IN_H2O_60DEG_F	pressure	6221/25	inH2O (60 °F);inch of water (60 °f)	N19
IU/mg	IU-PER-MilliGM alone	1	[IU].mg-1;international unit per milligram	IU-PER-MilliGM
kat/uL	catalytic activity concentration	1000000000	kat.uL-1;katal per microlitre	KAT-PER-MicroL
Kib/m2	area bit density	1024	Kibit.m-2;kibibit per square metre	KibiBIT-PER-M2;E73
Kib/m3	inverse volume	1024	Kibit.m-3;kibibit per cubic metre	KibiBIT-PER-M3;E74
kcal/g	absorbed dose	4184000	kcal.g-1;kilocalorie per gram	KiloCAL-PER-GM
kg.cm2	moment of inertia	1/10000	kilogram square centimetre	KiloGM-CentiM2;F18
kg.mm2	moment of inertia	1/1000000	kilogram square millimetre	KiloGM-MilliM2;F19
kg/bar	A0E0L1I0M0H0T2D0	1/100000	kg.bar-1;kilogram per bar	KiloGM-PER-BAR;H53
kg/d	mass flow rate	1/86400	kg.d-1;kilogram per day	KiloGM-PER-DAY;F30
kg/ft2	mass per area	1562500/145161	kg.[ft_i]-2;kilogram per square foot	KiloGM-PER-FT2
KiloGM-PER-L-K	A0E0L-3I0M1H-1T0D0	1000	kg/(L.K);kg.L-1.K-1;kilogram per litre kelvin;TONNE-PER-M3-K;t/(m3.K);t.m-3.K-1;tonne per cubic metre kelvin;GM-PER-MilliL-K;g/(mL.K);g.mL-1.K-1;gram per millilitre kelvin;GM-PER-CentiM3-K;g/(cm3.K);g.cm-3.K-1;gram per cubic centimetre kelvin;KiloGM-PER-DeciM3-K;kg/(dm3.K);kg.dm-3.K-1;kilogram per cubic decimetre kelvin;TON_Metric-PER-M3-K;metric ton per cubic metre kelvin	G39;L76;G37;G33;H54
kg/min	mass flow rate	1/60	kg.min-1;kilogram per minute	KiloGM-PER-MIN;F31
kg/mol	molar mass	1	kg.mol-1;kilogram per mole	KiloGM-PER-MOL;D74
km/s2	acceleration	1000	km.s-2;kilometre per square second	KiloM-PER-SEC2;M38
kmol/h	catalytic activity	5/18	kmol.h-1;kilomole per hour	KiloMOL-PER-HR;K58
KiloW-PER-M2-K	coefficient of heat transfer	1000	kW/(m2.K);kW.m-2.K-1;kilowatt per square metre kelvin	N78
L/umol	molar refractivity	1000	L.umol-1;litre per micromole	L-PER-MicroMOL
lbm.min/ft6	A0E0L-6I0M1H0T1D0	34606351470947265625/1019597118269427	[lb_av].min.[ft_i]-6;pound mass minute per sextic foot	LB-MIN-PER-FT6
lbm.min/in6	A0E0L-6I0M1H0T1D0	425242846875000000000000/4195872914689	[lb_av].min.[in_i]-6;pound mass minute per sextic inch	LB-MIN-PER-IN6
LB-PER-FT3-PSI	mass per energy	1562500/672540057	lbm/(ft3.psi);[lb_av].[ft_i]-3.[psi]-1;pound mass per cubic foot psi	K70
LB-PER-IN3-PSI	mass per energy	100000000/24908891	lbm/(in3.psi);[lb_av].[in_i]-3.[psi]-1;pound mass per cubic inch psi	K76
LB-PER-MIN-PSI	thruster power to thrust efficiency	16129/14709975000	lbm/(min.psi);[lb_av].min-1.[psi]-1;pound mass per minute psi	K80
LB-PER-SEC-PSI	thruster power to thrust efficiency	16129/245166250	lbm/(s.psi);[lb_av].s-1.[psi]-1;pound mass per second psi	K83
lbm.s/ft6	A0E0L-6I0M1H0T1D0	6921270294189453125/12235165419233124	[lb_av].s.[ft_i]-6;pound mass second per sextic foot	LB-SEC-PER-FT6
lbm.s/in6	A0E0L-6I0M1H0T1D0	7087380781250000000000/4195872914689	[lb_av].s.[in_i]-6;pound mass second per sextic inch	LB-SEC-PER-IN6
lbf.ft/in	force	26689329691563/500000000000	[lbf_av].[ft_i].[in_i]-1;pound force foot per inch	LB_F-FT-PER-IN;P89
M2-PER-SEC-BAR	A0E0L3I0M-1H0T1D0	1/100000	m2/(s.bar);m2.s-1.bar-1;square metre per second bar	G41
M3-PER-DAY-BAR	A0E0L4I0M-1H0T1D0	1/8640000000	m3/(d.bar);m3.d-1.bar-1;cubic metre per day bar	G86
M3-PER-MIN-BAR	A0E0L4I0M-1H0T1D0	1/6000000	m3/(min.bar);m3.min-1.bar-1;cubic metre per minute bar	G88
M3-PER-MOL-SEC	atmospheric hydroxylation rate	1	m3/(mol.s);m3.mol-1.s-1;cubic metre per mole second	
M3-PER-SEC-BAR	A0E0L4I0M-1H0T1D0	1/100000	m3/(s.bar);m3.s-1.bar-1;cubic metre per second bar	G89
MI_US-PER-SEC2	acceleration	1609347219/1000000	mi{US}/s2;[mi_us].s-2;us survey mile per square second	M42
mol/kg	amount of substance per mass	1	mol.kg-1;mole per kilogram;mmol/g;mmol.g-1;millimole per gram	MOL-PER-KiloGM;C19;MilliMOL-PER-GM;H68
MOL-PER-M2-DAY	photon flux	1/86400	mol/(m2.d);mol.m-2.d-1;mole per square metre day	
MOL-PER-M3-BAR	A1E0L-2I0M-1H0T2D0	1/100000	mol/(m3.bar);mol.m-3.bar-1;mole per cubic metre bar	L29
lb-mol/min	catalytic activity	1511974566666666666666666666666667/200000000000000000000000000000000	[mol_lb].min-1;pound mole per minute	MOL_LB-PER-MIN;P46
lb-mol/s	catalytic activity	45359237/100000	[mol_lb].s-1;pound mole per second	MOL_LB-PER-SEC;P45
Mib/m2	area bit density	1048576	Mibit.m-2;mebibit per square metre	MebiBIT-PER-M2;E76
Mib/m3	inverse volume	1048576	Mibit.m-3;mebibit per cubic metre	MebiBIT-PER-M3;E77
MPa/bar	ratio	10	MPa.bar-1;megapascal per bar	MegaPA-PER-BAR;F05
ukat/L	catalytic activity concentration	1/1000	ukat.L-1;microkatal per litre	MicroKAT-PER-L
um/min	speed	1/60000000	um.min-1;micrometre per minute	MicroM-PER-MIN
um/s	speed	1/1000000	um.s-1;micrometre per second	MicroM-PER-SEC
um3/m3	ratio	1/1000000000000000000	um3.m-3;cubic micrometre per cubic metre;fg/kg;fg.kg-1;femtogram per kilogram	MicroM3-PER-M3;FemtoGM-PER-KiloGM
mA/bar	A0E1L1I0M-1H0T2D0	1/100000000	mA.bar-1;milliampere per bar	MilliA-PER-BAR;F59
mg/ha	mass per area	1/10000000000	mg.har-1;milligram per hectare	MilliGM-PER-HA
mg/h	mass flow rate	1/3600000000	mg.h-1;milligram per hour	MilliGM-PER-HR;4M
mg/m2	mass per area	1/1000000	mg.m-2;milligram per square metre;kg/km2;kg.km-2;kilogram per square kilometre	MilliGM-PER-M2;GO;KiloGM-PER-KiloM2
mK/bar	A0E0L1I0M-1H1T2D0	1/100000000	mK.bar-1;millikelvin per bar	MilliK-PER-BAR
mL/bar	A0E0L4I0M-1H0T2D0	1/100000000000	mL.bar-1;millilitre per bar;cm3/bar;cm3.bar-1;cubic centimetre per bar	MilliL-PER-BAR;G97;CentiM3-PER-BAR;G94
mL/d	flow	1/86400000000	mL.d-1;millilitre per day;cm3/d;cm3.d-1;cubic centimetre per day	MilliL-PER-DAY;G54;CentiM3-PER-DAY;G47
mL/min	flow	1/60000000	mL.min-1;millilitre per minute;cm3/min;cm3.min-1;cubic centimetre per minute	MilliL-PER-MIN;41;CentiM3-PER-MIN;G49
mL/s	flow	1/1000000	mL.s-1;millilitre per second;cm3/s;cm3.s-1;cubic centimetre per second	MilliL-PER-SEC;40;CentiM3-PER-SEC;2J
mm/bar	A0E0L2I0M-1H0T2D0	1/100000000	mm.bar-1;millimetre per bar	MilliM-PER-BAR;G06
mm/d	speed	1/86400000	mm.d-1;millimetre per day	MilliM-PER-DAY
mm/min	speed	1/60000	mm.min-1;millimetre per minute	MilliM-PER-MIN;H81
mm3/g	specific volume	1/1000000	mm3.g-1;cubic millimetre per gram;mL/kg;mL.kg-1;millilitre per kilogram	MilliM3-PER-GM;MilliL-PER-KiloGM;KX
mohm/K	A0E-2L2I0M1H-1T-3D0	1/1000	mOhm.K-1;milliohm per kelvin	MilliOHM-PER-K
mV/min	power per electric charge	1/60000	mV.min-1;millivolt per minute	MilliV-PER-MIN;H62
N-M-PER-ARCMIN	energy	108000000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	N.m/';N.m.'-1;newton metre per arcminute;N-M-PER-MIN_Angle;newton metre per minute angle	
NUM-PER-KiloM2	area bit density	1/1000000	#/km2;{#}.km-2;number per square kilometre	
NUM-PER-M2-DAY	flux	1/86400	#/(m2.d);{#}.m-2.d-1;number per square metre day	
ng/d	mass flow rate	1/86400000000000000	ng.d-1;nanogram per day	NanoGM-PER-DAY
nmol/g	amount of substance per mass	1/1000000	nmol.g-1;nanomole per gram;umol/kg;umol.kg-1;micromole per kilogram	NanoMOL-PER-GM;MicroMOL-PER-KiloGM
nN.m/m2	energy per area	1/1000000000	nN.m.m-2;nanonewton metre per square metre	NanoN-M-PER-M2
nSv/min	absorbed dose rate	1/60000000000	nSv.min-1;nanosievert per minute;nGy/min;nGy.min-1;nanogray per minute	NanoSV-PER-MIN;P77;NanoGRAY-PER-MIN;P60
nSv/s	absorbed dose rate	1/1000000000	nSv.s-1;nanosievert per second;nGy/s;nGy.s-1;nanogray per second	NanoSV-PER-SEC;P68;NanoGRAY-PER-SEC;P56
oz.min/in6	A0E0L-6I0M1H0T1D0	26577677929687500000000/4195872914689	[oz_av].min.[in_i]-6;ounce mass minute per sextic inch	OZ-MIN-PER-IN6
oz.s/in6	A0E0L-6I0M1H0T1D0	442961298828125000000/4195872914689	[oz_av].s.[in_i]-6;ounce mass second per sextic inch	OZ-SEC-PER-IN6
Pa.s/bar	time	10	Pa.s.bar-1;pascal second per bar	PA-SEC-PER-BAR;H07
PER-MicroMOL-L	A-1E0L-3I0M0H0T0D0	1000000000	/(umol.L);umol-1.L-1;reciprocal micromole litre	
%/h	frequency	1/360000	%.h-1;percent per hour	PERCENT-PER-HR
%/in	inverse length	50/127	%.[in_i]-1;percent per inch	PERCENT-PER-IN;H98
%/mo	frequency	489918846612702035163963625264263/125000000000000000000000000000000000000000	%.mo-1;percent per month	PERCENT-PER-MO;H71
%/wk	frequency	1/60480000	%.wk-1;percent per week	PERCENT-PER-WK
%/a	frequency	1/3155760000	%.a-1;percent per year	PERCENT-PER-YR
PINT_UK-PER-HR	flow	789251736111111111111111111111111/5000000000000000000000000000000000000000	pt{UK}/h;[pt_br].h-1;pint (uk) per hour	L54
PINT_US-PER-HR	flow	157725491/1200000000000000	pt{US}/h;[pt_us].h-1;us liquid pint per hour	L58
psi.m3/s	power	8896443230521/1290320000	[psi].m3.s-1;psi cubic metre per second	PSI-M3-PER-SEC;K89
Pib/m2	area bit density	1125899906842624	pebibit per square metre	PebiBIT-PER-M2;E81
Pib/m3	inverse volume	1125899906842624	pebibit per cubic metre	PebiBIT-PER-M3;E82
planckmomentum	linear momentum	130497/20000	planck momentum	PlanckMomentum
planckpressure	pressure	463309000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	planck pressure	PlanckPressure
s/kg	einstein coefficients	1	s.kg-1;second per kilogram	SEC-PER-KiloGM;Q20
SEC-PER-M3-RAD	spectral density of vibrational modes	1	s/(m3.rad);s.m-3.rad-1;second per cubic metre radian;SEC-PER-RAD-M3;s/(rad.m3);s.rad-1.m-3;second per radian cubic metre	D94;Q22
TONNE-PER-HR-K	A0E0L0I0M1H-1T-1D0	5/18	t/(h.K);t.h-1.K-1;tonne per hour kelvin;TON_Metric-PER-HR-K;metric ton per hour kelvin	L74
TON_UK-PER-DAY	mass flow rate	317514659/27000000000	ton{UK}/d;[lton_av].d-1;ton (uk) per day	L85
TON_UK-PER-YD3	concentration	1984466618750/1493271207	ton{UK}/yd3;[lton_av].[yd_i]-3;ton (uk) per cubic yard;TON_LONG-PER-YD3;t{long}/yd3;long ton per cubic yard	L92
TON_US-PER-DAY	mass flow rate	45359237/4320000000	ton{US}/d;[ston_av].d-1;ton (us) per day	L88
TON_US-PER-YD3	concentration	3543690390625/2986542414	ton{US}/yd3;[ston_av].[yd_i]-3;ton (us) per cubic yard;TON_SHORT-PER-YD3;ton{short}/yd3;short ton per cubic yard	L93
Tib/m2	area bit density	1099511627776	Tibit.m-2;tebibit per square metre	TebiBIT-PER-M2;E87
Tib/m3	inverse volume	1099511627776	Tibit.m-3;tebibit per cubic metre	TebiBIT-PER-M3;E86
V.in2/lbf	hall coefficient	1290320000/8896443230521	V.[in_i]2.[lbf_av]-1;volt square inch per pound force	V-IN2-PER-LB_F;H22
V/us	power per electric charge	1000000	V.us-1;volt per microsecond	V-PER-MicroSEC;H24
W-PER-M2-NanoM	force per area time	1000000000	W/(m2.nm);W.m-2.nm-1;watt per square metre nanometre;W-PER-M2-NanoM-SR;W/(m2.nm.sr);W.m-2.nm-1.sr-1;watt per square metre nanometre steradian	
A.h/dm3	electric charge volume density	3600000	A.h.dm-3;ampere hour per cubic decimetre	A-HR-PER-DeciM3
A.h/kg	electric charge per mass	3600	A.h.kg-1;ampere hour per kilogram;mA.h/g;mA.h.g-1;milliampere hour per gram	A-HR-PER-KiloGM;MilliA-HR-PER-GM
BTU_IT-PER-LB_F	length	2110112000000000/8896443230521	Btu{IT}/lbf;[Btu_IT].[lbf_av]-1;british thermal unit (international definition) per pound force	
C.m2/kg	A0E1L2I0M-1H0T1D0	1	C.m2.kg-1;coulomb square metre per kilogram	C-M2-PER-KiloGM;J53
CAL_IT-PER-GM-K	specific heat capacity	20934/5	cal{IT}/(g.K);cal_IT.g-1.K-1;international table calorie per gram kelvin;CAL_IT-PER-GM-DEG_C;cal{IT}/(g.°C);cal_IT.g-1.Cel-1;international table calorie per gram degree celsius	D76;J76
CAL_TH-PER-GM-K	specific heat capacity	4184	cal/(g.K);cal_th.g-1.K-1;thermochemical calorie per gram kelvin;CAL_TH-PER-GM-DEG_C;cal/(g.°C);cal_th.g-1.Cel-1;thermochemical calorie per gram degree celsius	D37;J79
cm2/erg	spectral angular cross section	1000	cm2.erg-1;square centimetre per erg;CentiM2-PER-SR-ERG;cm2/(sr.erg);cm2.sr-1.erg-1;square centimetre per steradian erg	CentiM2-PER-ERG;D16;D17
cm3/mol	molar refractivity	1/1000000	cm3.mol-1;cubic centimetre per mole	CentiM3-PER-MOL;A36
cN.m/m2	energy per area	1/100	cN.m.m-2;centinewton metre per square metre	CentiN-M-PER-M2
DEGREE_TWADDELL	DEGREE_TWADDELL alone	1	°Tw;degree twaddell	J31
dB/km	DeciB-PER-KiloM alone	1	dB.km-1;decibel per kilometre	DeciB-PER-KiloM;H51
erg/cm3	energy density	1/10	erg.cm-3;erg per cubic centimetre	ERG-PER-CentiM3;A60
EV-PER-ANGSTROM	force	801088317/500000000000000000	eV/Å;eV.Ao-1;electron volt per angstrom	
F/km	permittivity	1/1000	F.km-1;farad per kilometre	FARAD-PER-KiloM;H33
ft.lbf/min	power	1129848290276167/50000000000000000	[ft_i].[lbf_av].min-1;foot pound force per minute	FT-LB_F-PER-MIN;K16
ft.lbf/s	power	3389544870828501/2500000000000000	[ft_i].[lbf_av].s-1;foot pound force per second	FT-LB_F-PER-SEC;A74
GM-MIN-PER-L-M3	A0E0L-6I0M1H0T1D0	60	g.min/(L.m3);g.min.L-1.m-3;gram minute per litre cubic metre;GM-MIN-PER-M3-L;g.min/(m3.L);g.min.m-3.L-1;gram minute per cubic metre litre;mg.min/L2;mg.min.L-2;milligram minute per square litre;MilliGM-MIN-PER-M3-CentiM3;mg.min/(m3.cm3);mg.min.m-3.cm-3;milligram minute per cubic metre cubic centimetre	MilliGM-MIN-PER-L2
GM-PER-L-PA-SEC	A0E0L-2I0M0H0T1D0	1	g/(L.Pa.s);g.L-1.Pa-1.s-1;gram per litre pascal second;GM-PER-M3-CentiPOISE;g/(m3.cP);g.m-3.cP-1;gram per cubic metre centipoise;GM-PER-M3-MilliPA-SEC;g/(m3.mPa.s);g.m-3.mPa-1.s-1;gram per cubic metre millipascal second;MilliGM-PER-L-CentiPOISE;mg/(L.cP);mg.L-1.cP-1;milligram per litre centipoise;MilliGM-PER-L-MilliPA-SEC;mg/(L.mPa.s);mg.L-1.mPa-1.s-1;milligram per litre millipascal second	
GM-PER-M3-POISE	A0E0L-2I0M0H0T1D0	1/100	g/(m3.P);g.m-3.P-1;gram per cubic metre poise;MilliGM-PER-L-POISE;mg/(L.P);mg.L-1.P-1;milligram per litre poise	
GM-SEC-PER-L-M3	A0E0L-6I0M1H0T1D0	1	g.s/(L.m3);g.s.L-1.m-3;gram second per litre cubic metre;GM-SEC-PER-M3-L;g.s/(m3.L);g.s.m-3.L-1;gram second per cubic metre litre;mg.s/L2;mg.s.L-2;milligram second per square litre;MilliGM-SEC-PER-M3-CentiM3;mg.s/(m3.cm3);mg.s.m-3.cm-3;milligram second per cubic metre cubic centimetre	MilliGM-SEC-PER-L2
J.m2/kg	total mass stopping power	1	J.m2.kg-1;joule square metre per kilogram	J-M2-PER-KiloGM;B20
kcal/min	power	1046/15	kcal.min-1;kilocalorie per minute;kcal_th.min-1;kilo thermochemical calorie per minute	KiloCAL-PER-MIN;K54;KiloCAL_TH-PER-MIN
kcal/mol	molar energy	4184	kcal.mol-1;kilocalorie per mole	KiloCAL-PER-MOL
kcal/s	power	4184	kcal.s-1;kilocalorie per second;kcal_th.s-1;kilo thermochemical calorie per second	KiloCAL-PER-SEC;K55;KiloCAL_TH-PER-SEC
KiloGM-PER-HR-K	A0E0L0I0M1H-1T-1D0	1/3600	kg/(h.K);kg.h-1.K-1;kilogram per hour kelvin	F40
KiloGM-PER-M-HR	dynamic viscosity	1/3600	kg/(m.h);kg.m-1.h-1;kilogram per metre hour	N40
klbf/ft	energy per area	8896443230521/609600000	k[lbf_av].[ft_i]-1;kilo pound force per foot	KiloLB_F-PER-FT;F17
km3/s2	standard gravitational parameter	1000000000	km3.s-2;cubic kilometre per square second	KiloM3-PER-SEC2
kmol/min	catalytic activity	50/3	kmol.min-1;kilomole per minute	KiloMOL-PER-MIN;K61
kmol/s	catalytic activity	1000	kmol.s-1;kilomole per second	KiloMOL-PER-SEC;E94
KiloN-M-PER-DEG	energy	1800000000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	kN.m/°;kN.m.deg-1;kilonewton metre per degree	
kohm/bar	A0E-2L3I0M0H0T-1D0	1/100	kOhm.bar-1;kiloohm per bar	KiloOHM-PER-BAR
kW.h/m2	energy per area	3600000	kW.h.m-2;kilowatt hour per square metre	KiloW-HR-PER-M2
LB-PER-HR-DEG_F	A0E0L0I0M1H-1T-1D0	45359237/200000000000	lbm/(h.°F);[lb_av].h-1.[degF]-1;pound mass per hour degree fahrenheit	K73
Mohm/bar	A0E-2L3I0M0H0T-1D0	10	MOhm.bar-1;megaohm per bar	MegaOHM-PER-BAR
ug/in2	mass per area	1/645160	ug.[in_i]-2;microgram per square inch	MicroGM-PER-IN2
um/s2	acceleration	1/1000000	um.s-2;micrometre per square second	MicroM-PER-SEC2
umol/m2	A1E0L-2I0M0H0T0D0	1/1000000	umol.m-2;micromole per square metre	MicroMOL-PER-M2
uN.m/m2	energy per area	1/1000000	uN.m.m-2;micronewton metre per square metre	MicroN-M-PER-M2
uSv/min	absorbed dose rate	1/60000000	uSv.min-1;microsievert per minute;uGy/min;uGy.min-1;microgray per minute	MicroSV-PER-MIN;P76;MicroGRAY-PER-MIN;P59
uSv/s	absorbed dose rate	1/1000000	uSv.s-1;microsievert per second;uGy/s;uGy.s-1;microgray per second	MicroSV-PER-SEC;P67;MicroGRAY-PER-SEC;P55
mg/bar	A0E0L1I0M0H0T2D0	1/100000000000	mg.bar-1;milligram per bar	MilliGM-PER-BAR;F75
mg/d	mass flow rate	1/86400000000	mg.d-1;milligram per day	MilliGM-PER-DAY;F32
mg/min	mass flow rate	1/60000000	mg.min-1;milligram per minute	MilliGM-PER-MIN;F33
mg/s	mass flow rate	1/1000000	mg.s-1;milligram per second	MilliGM-PER-SEC;F34
MilliL-PER-HR-K	A0E0L3I0M0H-1T-1D0	1/3600000000	mL/(h.K);mL.h-1.K-1;millilitre per hour kelvin;CentiM3-PER-HR-K;cm3/(h.K);cm3.h-1.K-1;cubic centimetre per hour kelvin	G74;G62
mm/s2	acceleration	1/1000	mm.s-2;millimetre per square second	MilliM-PER-SEC2;M41
mmol/m2	A1E0L-2I0M0H0T0D0	1/1000	mmol.m-2;millimole per square metre	MilliMOL-PER-M2
mSv/min	absorbed dose rate	1/60000	mSv.min-1;millisievert per minute;mGy/min;mGy.min-1;milligray per minute	MilliSV-PER-MIN;P75;MilliGRAY-PER-MIN;P58
mSv/s	absorbed dose rate	1/1000	mSv.s-1;millisievert per second;mGy/s;mGy.s-1;milligray per second	MilliSV-PER-SEC;P66;MilliGRAY-PER-SEC;P54
NUM-PER-HectoGM	inverse mass	10	#/hg;{#}.hg-1;number per hectogram	
nF/m	permittivity	1/1000000000	nF.m-1;nanofarad per metre;uF/km;uF.km-1;microfarad per kilometre	NanoFARAD-PER-M;C42;MicroFARAD-PER-KiloM;H28
pdl.s/in2	dynamic viscosity	136077711/635000	[lb_av].[ft_i].s-2.s.[in_i]-2;poundal second per square inch	PDL-SEC-PER-IN2;N42
PER-PlanckMass2	inverse square mass	1055544643588360853542258240540007/500000000000000000	/planckmass2;reciprocal square planck mass	
%/bar	compressibility	1/10000000	%.bar-1;percent per bar	PERCENT-PER-BAR;H96
%/d	frequency	1/8640000	%.d-1;percent per day	PERCENT-PER-DAY
PERCENT-PER-DEG	PERCENT-PER-DEG alone	18000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	%/°;%.deg-1;percent per degree	H90
PINT_UK-PER-DAY	flow	1644274450231481481481481481481481/250000000000000000000000000000000000000000	pt{UK}/d;[pt_br].d-1;pint (uk) per day	L53
PINT_UK-PER-MIN	flow	1894204166666666666666666666666667/200000000000000000000000000000000000000	pt{UK}/min;[pt_br].min-1;pint (uk) per minute	L55
PINT_UK-PER-SEC	flow	454609/800000000	pt{UK}/s;[pt_br].s-1;pint (uk) per second	L56
PINT_US-PER-DAY	flow	157725491/28800000000000000	pt{US}/d;[pt_us].d-1;us liquid pint per day	L57
PINT_US-PER-MIN	flow	157725491/20000000000000	pt{US}/min;[pt_us].min-1;us liquid pint per minute	L59
PINT_US-PER-SEC	flow	473176473/1000000000000	pt{US}/s;[pt_us].s-1;us liquid pint per second	L60
psi.in3/s	power	1129848290276167/10000000000000000	[psi].[in_i]3.s-1;psi cubic inch per second	PSI-IN3-PER-SEC;K87
psi.yd3/s	power	823659403611325743/156250000000000	[psi].[yd_i]3.s-1;psi cubic yard per second	PSI-YD3-PER-SEC;K90
pF/m	permittivity	1/1000000000000	pF.m-1;picofarad per metre	PicoFARAD-PER-M;C72
planckfrequency	frequency	18548700000000000000000000000000000000000000	planck frequency	PlanckFrequency
PlanckImpedance	resistance	149896229/5000000	planck impedance	Zₚ
REV-PER-MIN-SEC	angular acceleration	31415926535897932384626433832795028841971693993751/300000000000000000000000000000000000000000000000000	rev/(min.s);{#}.min-1.s-1;revolution per minute second	
Sh/s	frequency	34657359027997265470861606072909/50000000000000000000000000000000	shannon per second	SHANNON-PER-SEC;Q17
SLUG-PER-FT-SEC	dynamic viscosity	8896443230521/185806080000	slug/(ft.s);slug per foot second;lbf.s/ft2;[lbf_av].s.[ft_i]-2;pound force second per square foot	L64;LB_F-SEC-PER-FT2;K91
TONNE-PER-DAY-K	A0E0L0I0M1H-1T-1D0	5/432	t/(d.K);t.d-1.K-1;tonne per day kelvin;TON_Metric-PER-DAY-K;metric ton per day kelvin	L72
TONNE-PER-HA-YR	mass per area time	1/315576000	t/(ha.a);t.har-1.a-1;tonne per hectare year;MegaGM-PER-HA-YR;Mg/(ha.a);Mg.har-1.a-1;megagram per hectare year	
TONNE-PER-MIN-K	A0E0L0I0M1H-1T-1D0	50/3	t/(min.K);t.min-1.K-1;tonne per minute kelvin;TON_Metric-PER-MIN-K;metric ton per minute kelvin	L79
TONNE-PER-SEC-K	A0E0L0I0M1H-1T-1D0	1000	t/(s.K);t.s-1.K-1;tonne per second kelvin;TON_Metric-PER-SEC-K;metric ton per second kelvin	L82
MTON	volume	5663/5000	ton (uk shipping);ton (us shipping)	TON_SHIPPING_UK;L84;TON_SHIPPING_US;L86
TW.h/a	power	500000000000/4383	TW.h.a-1;terawatt hour per year	TeraW-HR-PER-YR
W.h/kg	absorbed dose	3600	W.h.kg-1;watt hour per kilogram	W-HR-PER-KiloGM
W-PER-M2-MicroM	force per area time	1000000	W/(m2.um);W.m-2.um-1;watt per square metre micrometre;W-PER-M2-MicroM-SR;W/(m2.um.sr);W.m-2.um-1.sr-1;watt per square metre micrometre steradian;MilliW-PER-M2-NanoM;mW/(m2.nm);mW.m-2.nm-1;milliwatt per square metre nanometre;MilliW-PER-M2-NanoM-SR;mW/(m2.nm.sr);mW.m-2.nm-1.sr-1;milliwatt per square metre nanometre steradian	
abA/cm2	electric current density	100000	Bi.cm-2;abampere per square centimetre	A_Ab-PER-CentiM2
BTU_IT-PER-DEG_F	heat capacity	1186938/625	Btu{IT}/°F;[Btu_IT].[degF]-1;british thermal unit (international definition) per degree fahrenheit;BTU_IT-PER-DEG_R;Btu{IT}/°R;[Btu_IT].[degR]-1;british thermal unit (international definition) per degree rankine	N60;N62
BTU_TH-PER-DEG_F	heat capacity	18978304761/10000000	Btu{th}/°F;[Btu_th].[degF]-1;british thermal unit (thermochemical definition) per degree fahrenheit	N61
BTU_TH-PER-DEG_R	heat capacity	1897830476099999848173561912000013/1000000000000000000000000000000	Btu{th}/°R;[Btu_th].[degR]-1;british thermal unit (thermochemical definition) per degree rankine	N63
BU_US_DRY-PER-HR	flow	220244188543/22500000000000000	bsh{US}/h;[bu_us].h-1;bushel (us dry) per hour	J69
abC/cm2	electric charge per area	100000	10.C.cm-2;abcoulomb per square centimetre	C_Ab-PER-CentiM2
CentiM-PER-SEC-K	A0E0L1I0M0H-1T-1D0	1/100	cm/(s.K);cm.s-1.K-1;centimetre per second kelvin	J84
CentiM-SEC-DEG_C	length temperature time	1/100	cm.s.°C;cm.s.Cel;centimetre second degree celsius	
cP/K	A0E0L-1I0M1H-1T-1D0	1/1000	cP.K-1;centipoise per kelvin;mPa.s/K;mPa.s.K-1;millipascal second per kelvin	CentiPOISE-PER-K;J73;MilliPA-SEC-PER-K;L15
eV.m2/kg	total mass stopping power	801088317/5000000000000000000000000000	eV.m2.kg-1;electron volt square metre per kilogram	EV-M2-PER-KiloGM;A56
FT-HR-PER-GAL_UK	A0E0L-2I0M0H0T1D0	109728000000/454609	ft.h/gal{UK};[ft_i].h.[gal_br]-1;foot hour per gallon (uk)	
FT-HR-PER-GAL_US	A0E0L-2I0M0H0T1D0	360000000000/1241933	ft.h/gal{US};[ft_i].h.[gal_us]-1;foot hour per us gallon	
FT-PER-SEC-DEG_F	A0E0L1I0M0H-1T-1D0	3429/6250	ft/(s.°F);[ft_i].s-1.[degF]-1;foot per second degree fahrenheit	K18
GM-PER-M3-PA-SEC	A0E0L-2I0M0H0T1D0	1/1000	g/(m3.Pa.s);g.m-3.Pa-1.s-1;gram per cubic metre pascal second;MilliGM-PER-L-PA-SEC;mg/(L.Pa.s);mg.L-1.Pa-1.s-1;milligram per litre pascal second;MilliGM-PER-M3-CentiPOISE;mg/(m3.cP);mg.m-3.cP-1;milligram per cubic metre centipoise;MilliGM-PER-M3-MilliPA-SEC;mg/(m3.mPa.s);mg.m-3.mPa-1.s-1;milligram per cubic metre millipascal second	
GRAIN-PER-GAL_US	concentration	2945405/172064172	gr{UK}/gal{US};[gr].[gal_us]-1;grain per us gallon	K41
Hundredweight_UK	mass	1016047/20000	hundredweight (uk)	cwt{long};[lcwt_av];CWI
IN-PER-SEC-DEG_F	A0E0L1I0M0H-1T-1D0	1143/25000	in/(s.°F);[in_i].s-1.[degF]-1;inch per second degree fahrenheit	K47
KiloGM-PER-DAY-K	A0E0L0I0M1H-1T-1D0	1/86400	kg/(d.K);kg.d-1.K-1;kilogram per day kelvin	F39
kg/GJ	mass per energy	1/1000000000	kg.GJ-1;kilogram per gigajoule	KiloGM-PER-GigaJ
KiloGM-PER-HA-YR	mass per area time	1/315576000000	kg/(ha.a);kg.har-1.a-1;kilogram per hectare year	
KiloGM-PER-L-BAR	mass per energy	1/100	kg/(L.bar);kg.L-1.bar-1;kilogram per litre bar;TONNE-PER-M3-BAR;t/(m3.bar);t.m-3.bar-1;tonne per cubic metre bar;GM-PER-MilliL-BAR;g/(mL.bar);g.mL-1.bar-1;gram per millilitre bar;GM-PER-CentiM3-BAR;g/(cm3.bar);g.cm-3.bar-1;gram per cubic centimetre bar;KiloGM-PER-DeciM3-BAR;kg/(dm3.bar);kg.dm-3.bar-1;kilogram per cubic decimetre bar	G17;L77;G15;G11;H55
KiloGM-PER-M-DAY	dynamic viscosity	1/86400	kg/(m.d);kg.m-1.d-1;kilogram per metre day	N39
KiloGM-PER-M-MIN	dynamic viscosity	1/60	kg/(m.min);kg.m-1.min-1;kilogram per metre minute	N38
KiloGM-PER-MIN-K	A0E0L0I0M1H-1T-1D0	1/60	kg/(min.K);kg.min-1.K-1;kilogram per minute kelvin	F41
KiloGM-PER-SEC-K	A0E0L0I0M1H-1T-1D0	1	kg/(s.K);kg.s-1.K-1;kilogram per second kelvin	F42
kg2/s2	A0E0L0I0M2H0T-2D0	1	kg2.s-2;square kilogram per square second	KiloGM2-PER-SEC2
klbf/in2	pressure	8896443230521/1290320	kilo pound force per square inch	k[lbf_av].[in_i]-2;KiloLB_F-PER-IN2;84
kPa.m2/g	acceleration	1000000	kPa.m2.g-1;kilopascal square metre per gram	KiloPA-M2-PER-GM;33
kt/a	mass flow rate	1250/39447	kt.a-1;kilotonne per year	KiloTONNE-PER-YR
kW/TOR	KiloW-PER-TON_FG alone	2843451233247451627918482802664769/10000000000000000000000000000000000	kilowatt per ton of refrigeration	KiloW-PER-TON_FG
LB-PER-FT3-DEG_F	A0E0L-3I0M1H-1T0D0	5669904625/196644768	lbm/(ft3.°F);[lb_av].[ft_i]-3.[degF]-1;pound mass per cubic foot degree fahrenheit	K69
LB-PER-IN3-DEG_F	A0E0L-3I0M1H-1T0D0	102058283250/2048383	lbm/(in3.°F);[lb_av].[in_i]-3.[degF]-1;pound mass per cubic inch degree fahrenheit	K75
LB-PER-MIN-DEG_F	A0E0L0I0M1H-1T-1D0	136077711/10000000000	lbm/(min.°F);[lb_av].min-1.[degF]-1;pound mass per minute degree fahrenheit	K79
LB-PER-SEC-DEG_F	A0E0L0I0M1H-1T-1D0	408233133/500000000	lbm/(s.°F);[lb_av].s-1.[degF]-1;pound mass per second degree fahrenheit	K82
LB_F-PER-IN2-SEC	force per area time	8896443230521/1290320000	lbf/(in2.s);[lbf_av].[in_i]-2.s-1;pound force per square inch second	
lbf.s/in2	dynamic viscosity	8896443230521/1290320000	[lbf_av].s.[in_i]-2;pound force second per square inch	LB_F-SEC-PER-IN2;K92
MOL-PER-KiloGM-K	A1E0L0I0M-1H-1T0D0	1	mol/(kg.K);mol.kg-1.K-1;mole per kilogram kelvin	L24
MO_MeanGREGORIAN	time	2629746000000	mo{Gregorian};mo_g;mean gregorian month	MON
MegaJ-PER-M2-DAY	irradiance	625/54	MJ/(m2.d);MJ.m-2.d-1;megajoule per square metre day	
Mt/a	mass flow rate	1250000/39447	Mt.a-1;megatonne per year	MegaTONNE-PER-YR
uF/m	permittivity	1/1000000	uF.m-1;microfarad per metre	MicroFARAD-PER-M;B89
MicroGM-PER-L-HR	mass concentration rate of change	1/3600000000	ug/(L.h);ug.L-1.h-1;microgram per litre hour;MilliGM-PER-M3-HR;mg/(m3.h);mg.m-3.h-1;milligram per cubic metre hour	
MicroGM-PER-M3-K	A0E0L-3I0M1H-1T0D0	1/1000000000	ug/(m3.K);ug.m-3.K-1;microgram per cubic metre kelvin	J34
MicroM-PER-L-DAY	flux	1/86400000	um/(L.d);um.L-1.d-1;micrometre per litre day	
MilliA-PER-L-MIN	A0E1L-3I0M0H0T-1D0	1/60	mA/(L.min);mA.L-1.min-1;milliampere per litre minute	G59
MilliGM-PER-HR-K	A0E0L0I0M1H-1T-1D0	1/3600000000	mg/(h.K);mg.h-1.K-1;milligram per hour kelvin	F44
MilliGM-PER-M3-K	A0E0L-3I0M1H-1T0D0	1/1000000	mg/(m3.K);mg.m-3.K-1;milligram per cubic metre kelvin	L17
MilliL-PER-DAY-K	A0E0L3I0M0H-1T-1D0	1/86400000000	mL/(d.K);mL.d-1.K-1;millilitre per day kelvin;CentiM3-PER-DAY-K;cm3/(d.K);cm3.d-1.K-1;cubic centimetre per day kelvin	G73;G61
MilliL-PER-MIN-K	A0E0L3I0M0H-1T-1D0	1/60000000	mL/(min.K);mL.min-1.K-1;millilitre per minute kelvin;CentiM3-PER-MIN-K;cm3/(min.K);cm3.min-1.K-1;cubic centimetre per minute kelvin	G75;G63
MilliL-PER-SEC-K	A0E0L3I0M0H-1T-1D0	1/1000000	mL/(s.K);mL.s-1.K-1;millilitre per second kelvin;CentiM3-PER-SEC-K;cm3/(s.K);cm3.s-1.K-1;cubic centimetre per second kelvin	G76;G64
mohm/bar	A0E-2L3I0M0H0T-1D0	1/100000000	mOhm.bar-1;milliohm per bar	MilliOHM-PER-BAR
N.m2/kg2	A0E0L3I0M-1H0T-2D0	1	N.m2.kg-2;newton square metre per square kilogram;M3-PER-KiloGM-SEC2;m3/(kg.s2);m3.kg-1.s-2;cubic metre per kilogram square second	N-M2-PER-KiloGM2;C54
ng/dL	concentration	1/100000000	ng.dL-1;nanogram per decilitre	NanoGM-PER-DeciL
NanoMOL-PER-L-HR	catalytic activity concentration	1/3600000000	nmol/(L.h);nmol.L-1.h-1;nanomole per litre hour	
OZ_VOL_UK-PER-HR	flow	986564670138888888888888888888889/125000000000000000000000000000000000000000	oz{UK}/h;[foz_br].h-1;fluid ounce (uk) per hour	J96
OZ_VOL_US-PER-HR	flow	157725491/19200000000000000	fl oz{US}/h;[foz_us].h-1;us liquid ounce per hour	K10
%.h/L	spectral density of vibrational modes	36000	%.h.L-1;percent hour per litre	PERCENT-HR-PER-L
PERMEABILITY_REL	PERMEABILITY_REL alone	62831853/50000000000000	relative permeability	kᵣ
PERMILLE-PER-PSI	compressibility	1290320/8896443230521	‰/psi;‰.[psi]-1;permille per psi	J12
PERMITTIVITY_REL	ratio	8854187817/1000000000000000000000	[eps_0];relative permittivity	εᵣ
PK_US_DRY-PER-HR	flow	220244188543/90000000000000000	peck{US Dry}/h;[pk_us].h-1;us peck per hour	L49
PicoMOL-PER-L-HR	catalytic activity concentration	1/3600000000000	pmol/(L.h);pmol.L-1.h-1;picomole per litre hour	
pPa/km	pressure gradient	1/1000000000000000	pPa.km-1;picopascal per kilometre	PicoPA-PER-KiloM;H69
mag	RichterMagnitude alone	1	richter magnitude	RichterMagnitude
TONNE-PER-HR-BAR	thruster power to thrust efficiency	1/360000	t/(h.bar);t.h-1.bar-1;tonne per hour bar;TON_Metric-PER-HR-BAR;metric ton per hour bar	L75
BBL_UK_PET-PER-HR	flow	4419811111111111111111111111111111/100000000000000000000000000000000000000	bbl{UK petroleum}/h;barrel (uk petroleum) per hour	J60
BBL_US_PET-PER-HR	flow	1104078437/25000000000000	bbl{US petroleum}/h;[bbl_us].h-1;barrel (us petroleum) per hour	J62
BTU_IT-PER-FT2-HR	irradiance	8242625/2612898	Btu{IT}/(ft2.h);[Btu_IT].[ft_i]-2.h-1;british thermal unit (international definition) per square foot hour;BTU_IT-PER-HR-FT2;Btu{IT}/(h.ft2);[Btu_IT].h-1.[ft_i]-2;british thermal unit (international definition) per hour square foot	N50
BTU_IT-PER-MOL_LB	molar energy	1163/500	Btu{IT}/lb-mol;[Btu_IT].[mol_lb]-1;british thermal unit (international definition) per pound mole	
BTU_TH-PER-FT2-HR	irradiance	197030065883892377352655939879781/62500000000000000000000000000000	Btu{th}/(ft2.h);[Btu_th].[ft_i]-2.h-1;british thermal unit (thermochemical definition) per square foot hour	N51
BU_US_DRY-PER-DAY	flow	220244188543/540000000000000000	bsh{US}/d;[bu_us].d-1;bushel (us dry) per day	J68
BU_US_DRY-PER-MIN	flow	220244188543/375000000000000	bsh{US}/min;[bu_us].min-1;bushel (us dry) per minute	J70
BU_US_DRY-PER-SEC	flow	220244188543/6250000000000	bsh{US}/s;[bu_us].s-1;bushel (us dry) per second	J71
cm/ka	speed	1/3155760000000	cm.ka-1;centimetre per kiloyear	CentiM-PER-KiloYR
CentiM2-PER-V-SEC	mobility	1/10000	cm2/(V.s);cm2.V-1.s-1;square centimetre per volt second	
FT-SEC-PER-GAL_UK	A0E0L-2I0M0H0T1D0	30480000/454609	ft.s/gal{UK};[ft_i].s.[gal_br]-1;foot second per gallon (uk)	
FT-SEC-PER-GAL_US	A0E0L-2I0M0H0T1D0	100000000/1241933	ft.s/gal{US};[ft_i].s.[gal_us]-1;foot second per us gallon	
FT2-PER-BTU_IT-IN	A0E0L-1I0M-1H0T2D0	1143/329705	ft2/(Btu{IT}.in);[ft_i]2.[Btu_IT]-1.[in_i]-1;square foot per british thermal unit (international definition) inch	
g.cm/s	linear momentum	1/100000	g.cm.s-1;gram centimetre per second	GM-CentiM-PER-SEC;M99
GM-PER-CentiM-BAR	square time	1/1000000	g/(cm.bar);g.cm-1.bar-1;gram per centimetre bar	
GM-PER-CentiM2-YR	mass per area time	1/3155760	g/(cm2.a);g.cm-2.a-1;gram per square centimetre year	
GM-PER-MilliM-BAR	square time	1/100000	g/(mm.bar);g.mm-1.bar-1;gram per millimetre bar	
GRAIN-PER-GAL_IMP	concentration	6479891/454609000	gr{UK}/gal{Imp};[gr].[gal_br]-1;grain per imperial gallon	K41
statH/cm	electromagnetic permeability	89875517900000	stathenry per centimetre	H_Stat-PER-CentiM
J-PER-CentiM2-DAY	irradiance	25/216	J/(cm2.d);J.cm-2.d-1;joule per square centimetre day	
J-PER-KiloGM-K-M3	specific heat volume	1	J/(kg.K.m3);J.kg-1.K-1.m-3;joule per kilogram kelvin cubic metre	
J-PER-KiloGM-K-PA	specific heat pressure	1	J/(kg.K.Pa);J.kg-1.K-1.Pa-1;joule per kilogram kelvin pascal	
kBq/kg	specific activity	1000	kBq.kg-1;kilobecquerel per kilogram	KiloBQ-PER-KiloGM;B25
KiloBTU_IT-PER-HR	power	65941/225	kBtu{IT}/h;k[Btu_IT].h-1;kilo british thermal unit (international definition) per hour	
KiloBTU_TH-PER-HR	power	1464375367361111111111111111111111/5000000000000000000000000000000	kBtu{th}/h;k[Btu_th].h-1;kilo british thermal unit (thermochemical definition) per hour	
kcal/h	power	523/450	kcal_th.h-1;kilo thermochemical calorie per hour	KiloCAL_TH-PER-HR;E15
keV/um	force	801088317/5000000000000000000	keV.um-1;kilo electron volt per micrometre	KiloEV-PER-MicroM
KiloGM-PER-HR-BAR	thruster power to thrust efficiency	1/360000000	kg/(h.bar);kg.h-1.bar-1;kilogram per hour bar	F67
KiloGM-PER-M2-DAY	mass per area time	1/86400	kg/(m2.d);kg.m-2.d-1;kilogram per square metre day	
KiloGM-PER-M3-SEC	mass concentration rate of change	1	kg/(m3.s);kg.m-3.s-1;kilogram per cubic metre second	
kg/mm	mass per length	1000	kg.mm-1;kilogram per millimetre	KiloGM-PER-MilliM;KW
klbf.ft/A	magnetic flux	3389544870828501/2500000000000	k[lbf_av].[ft_i].A-1;kilo pound force foot per ampere	KiloLB_F-FT-PER-A;F22
KiloM-PER-SEC-BAR	A0E0L2I0M-1H0T1D0	1/100	km/(s.bar);km.s-1.bar-1;kilometre per second bar	
KiloN-M-PER-DEG-M	force	1800000000000000000000000000000000000000000000000000000/31415926535897932384626433832795028841971693993751	kN.m/(°.m);kN.m.deg-1.m-1;kilonewton metre per degree metre	
LB-HR-PER-FT3-IN3	A0E0L-6I0M1H0T1D0	44296129882812500000000/12587618744067	lbm.h/(ft3.in3);[lb_av].h.[ft_i]-3.[in_i]-3;pound mass hour per cubic foot cubic inch;LB-HR-PER-IN3-FT3;lbm.h/(in3.ft3);[lb_av].h.[in_i]-3.[ft_i]-3;pound mass hour per cubic inch cubic foot	
LB-HR-PER-FT3-YD3	A0E0L-6I0M1H0T1D0	692127029418945312500/9176374064424843	lbm.h/(ft3.yd3);[lb_av].h.[ft_i]-3.[yd_i]-3;pound mass hour per cubic foot cubic yard	
LB-HR-PER-GAL_UK2	A0E0L-6I0M1H0T1D0	16329325320000000000/206669342881	lbm.h/gal{UK}2;[lb_av].h.[gal_br]-2;pound mass hour per square gallon (uk)	
LB-HR-PER-GAL_US2	A0E0L-6I0M1H0T1D0	36817562500000000000000/323082214431053	lbm.h/gal{US}2;[lb_av].h.[gal_us]-2;pound mass hour per square us gallon	
LB-HR-PER-IN3-YD3	A0E0L-6I0M1H0T1D0	44296129882812500000000/339865706089809	lbm.h/(in3.yd3);[lb_av].h.[in_i]-3.[yd_i]-3;pound mass hour per cubic inch cubic yard	
MOL-PER-KiloGM-PA	amount of substance per mass pressure	1	mol/(kg.Pa);mol.kg-1.Pa-1;mole per kilogram pascal	P51
MBq/kg	specific activity	1000000	MBq.kg-1;megabecquerel per kilogram	MegaBQ-PER-KiloGM;B67
MegaBTU_IT-PER-HR	power	2637640/9	MBtu{IT}/h;M[Btu_IT].h-1;mega british thermal unit (international definition) per hour	
MeV/cm	force	801088317/50000000000000000000	MeV.cm-1;mega electron volt per centimetre	MegaEV-PER-CentiM
MicroGM-PER-GM-HR	frequency	1/3600000000	ug/(g.h);ug.g-1.h-1;microgram per gram hour	
MicroGM-PER-L-DAY	mass concentration rate of change	1/86400000000	ug/(L.d);ug.L-1.d-1;microgram per litre day;MilliGM-PER-M3-DAY;mg/(m3.d);mg.m-3.d-1;milligram per cubic metre day	
MicroGM-PER-M3-HR	mass concentration rate of change	1/3600000000000	ug/(m3.h);ug.m-3.h-1;microgram per cubic metre hour	
MicroMOL-PER-L-HR	catalytic activity concentration	1/3600000	umol/(L.h);umol.L-1.h-1;micromole per litre hour;NanoMOL-PER-CentiM3-HR;nmol/(cm3.h);nmol.cm-3.h-1;nanomole per cubic centimetre hour	
mC/kg	electric charge per mass	1/1000	mC.kg-1;millicoulomb per kilogram	MilliC-PER-KiloGM;C8
mg.h/m6	A0E0L-6I0M1H0T1D0	9/2500	mg.h.m-6;milligram hour per sextic metre	MilliGM-HR-PER-M6
MilliGM-PER-DAY-K	A0E0L0I0M1H-1T-1D0	1/86400000000	mg/(d.K);mg.d-1.K-1;milligram per day kelvin	F43
MilliGM-PER-GM-HR	frequency	1/3600000	mg/(g.h);mg.g-1.h-1;milligram per gram hour	
MilliGM-PER-M2-HR	mass per area time	1/3600000000	mg/(m2.h);mg.m-2.h-1;milligram per square metre hour	
MilliGM-PER-MIN-K	A0E0L0I0M1H-1T-1D0	1/60000000	mg/(min.K);mg.min-1.K-1;milligram per minute kelvin	F45
MilliGM-PER-SEC-K	A0E0L0I0M1H-1T-1D0	1/1000000	mg/(s.K);mg.s-1.K-1;milligram per second kelvin	F46
MilliL-PER-HR-BAR	A0E0L4I0M-1H0T1D0	1/360000000000000	mL/(h.bar);mL.h-1.bar-1;millilitre per hour bar;CentiM3-PER-HR-BAR;cm3/(h.bar);cm3.h-1.bar-1;cubic centimetre per hour bar	G91;G79
MilliL-PER-M2-DAY	speed	1/86400000000	mL/(m2.d);mL.m-2.d-1;millilitre per square metre day	
mrad/h	absorbed dose rate	1388888888888888888888888888888889/500000000000000000000000000000000000000000	mRAD.h-1;millirad per hour	MilliRAD_R-PER-HR
NanoMOL-PER-GM-HR	biogeochemical rate	1/3600000000	nmol/(g.h);nmol.g-1.h-1;nanomole per gram hour	
NanoMOL-PER-L-DAY	catalytic activity concentration	1/86400000000	nmol/(L.d);nmol.L-1.d-1;nanomole per litre day	
OZ-HR-PER-IN3-FT3	A0E0L-6I0M1H0T1D0	2768508117675781250000/12587618744067	oz.h/(in3.ft3);[oz_av].h.[in_i]-3.[ft_i]-3;ounce mass hour per cubic inch cubic foot	
OZ-HR-PER-IN3-YD3	A0E0L-6I0M1H0T1D0	2768508117675781250000/339865706089809	oz.h/(in3.yd3);[oz_av].h.[in_i]-3.[yd_i]-3;ounce mass hour per cubic inch cubic yard	
OZ_VOL_UK-PER-DAY	flow	1644274450231481481481481481481481/5000000000000000000000000000000000000000000	oz{UK}/d;[foz_br].d-1;fluid ounce (uk) per day	J95
OZ_VOL_UK-PER-MIN	flow	1183877604166666666666666666666667/2500000000000000000000000000000000000000	oz{UK}/min;[foz_br].min-1;fluid ounce (uk) per minute	J97
OZ_VOL_UK-PER-SEC	flow	454609/16000000000	oz{UK}/s;[foz_br].s-1;fluid ounce (uk) per second	J98
OZ_VOL_US-PER-DAY	flow	157725491/460800000000000000	fl oz{US}/d;[foz_us].d-1;us liquid ounce per day	J99
OZ_VOL_US-PER-MIN	flow	157725491/320000000000000	fl oz{US}/min;[foz_us].min-1;us liquid ounce per minute	K11
OZ_VOL_US-PER-SEC	flow	473176473/16000000000000	fl oz{US}/s;[foz_us].s-1;us liquid ounce per second	K12
%.h/m3	spectral density of vibrational modes	36	%.h.m-3;percent hour per cubic metre	PERCENT-HR-PER-M3
%.min/L	spectral density of vibrational modes	600	%.min.L-1;percent minute per litre	PERCENT-MIN-PER-L
%/daK	thermal expansion coefficient	1/1000	%.daK-1;percent per decakelvin;MilliM-PER-DEG_C-M;mm/(°C.m);mm.Cel-1.m-1;millimetre per degree celsius metre	PERCENT-PER-DecaK;H73;E97
%/P	fluidity	1/10	%.P-1;percent per poise	PERCENT-PER-POISE
%.s/L	spectral density of vibrational modes	10	%.s.L-1;percent second per litre	PERCENT-SEC-PER-L
PK_US_DRY-PER-DAY	flow	220244188543/2160000000000000000	peck{US Dry}/d;[pk_us].d-1;us peck per day	L48
PK_US_DRY-PER-MIN	flow	220244188543/1500000000000000	peck{US Dry}/min;[pk_us].min-1;us peck per minute	L50
PK_US_DRY-PER-SEC	flow	220244188543/25000000000000	peck{US Dry}/s;[pk_us].s-1;us peck per second	L51
pA/hPa	A0E1L1I0M-1H0T2D0	1/100000000000000	pA.hPa-1;picoampere per hectopascal	PicoA-PER-HectoPA
PicoMOL-PER-L-DAY	catalytic activity concentration	1/86400000000000	pmol/(L.d);pmol.L-1.d-1;picomole per litre day	
plancktemperature	temperature	141678400000000000000000000000000		PlanckTemperature
TONNE-PER-DAY-BAR	thruster power to thrust efficiency	1/8640000	t/(d.bar);t.d-1.bar-1;tonne per day bar;TON_Metric-PER-DAY-BAR;metric ton per day bar	L73
TONNE-PER-MIN-BAR	thruster power to thrust efficiency	1/6000	t/(min.bar);t.min-1.bar-1;tonne per minute bar;TON_Metric-PER-MIN-BAR;metric ton per minute bar	L80
TONNE-PER-SEC-BAR	thruster power to thrust efficiency	1/100	t/(s.bar);t.s-1.bar-1;tonne per second bar;TON_Metric-PER-SEC-BAR;metric ton per second bar	L83
TON_SHORT-PER-PSI	A0E0L1I0M0H0T2D0	129032/980665	ton{short}/psi;[ston_av].[psi]-1;short ton per psi	L91
statV/cm	electric field strength	149896229/5000	statvolt per centimetre	V_Stat-PER-CentiM
statA/cm2	electric current density	66712819/20000000000000	statampere per square centimetre	A_Stat-PER-CentiM2
BBL_UK_PET-PER-DAY	flow	920793981481481481481481481481481/500000000000000000000000000000000000000	bbl{UK petroleum}/d;barrel (uk petroleum) per day	J59
BBL_UK_PET-PER-MIN	flow	2651886666666666666666666666666667/1000000000000000000000000000000000000	bbl{UK petroleum}/min;barrel (uk petroleum) per minute	J58
BBL_UK_PET-PER-SEC	flow	397783/2500000	bbl{UK petroleum}/s;barrel (uk petroleum) per second	J61
BBL_US_PET-PER-SEC	flow	9936705933/62500000000	bbl{US petroleum}/s;[bbl_us].s-1;barrel (us petroleum) per second	J62
BTU_IT-PER-FT2-SEC	irradiance	1648525000/145161	Btu{IT}/(ft2.s);[Btu_IT].[ft_i]-2.s-1;british thermal unit (international definition) per square foot second;BTU_IT-PER-SEC-FT2;Btu{IT}/(s.ft2);[Btu_IT].s-1.[ft_i]-2;british thermal unit (international definition) per second square foot	N53
BTU_IT-PER-IN2-SEC	irradiance	26376400000/16129	Btu{IT}/(in2.s);[Btu_IT].[in_i]-2.s-1;british thermal unit (international definition) per square inch second	N55
BTU_TH-PER-FT2-MIN	irradiance	945744316242683411292748511422949/5000000000000000000000000000000	Btu{th}/(ft2.min);[Btu_th].[ft_i]-2.min-1;british thermal unit (thermochemical definition) per square foot minute	
BTU_TH-PER-FT2-SEC	irradiance	567446589745610046775649106853769/50000000000000000000000000000	Btu{th}/(ft2.s);[Btu_th].[ft_i]-2.s-1;british thermal unit (thermochemical definition) per square foot second	N54
statC/cm2	electric charge per area	8339102379953801239389417861873/2500000000000000000000000000000000000	statcoulomb per square centimetre	C_Stat-PER-CentiM2
CentiM-PER-SEC-BAR	A0E0L2I0M-1H0T1D0	1/10000000	cm/(s.bar);cm.s-1.bar-1;centimetre per second bar	J85
erg.cm2/g	total mass stopping power	1/100000000	erg.cm2.g-1;erg square centimetre per gram	ERG-CentiM2-PER-GM;A67
IN_H2O_39dot2DEG_F	pressure	124541/500	inH2O (39.2 °F);inch of water (39.2 °f)	N18
J-PER-M2-SEC0pt5-K	thermal inertia	1	joules per meter squared sqrt(second) degree kelvin	
KiloBTU_IT-PER-FT2	energy per area	1648525000000/145161	kBtu{IT}/ft2;k[Btu_IT].[ft_i]-2;kilo british thermal unit (international definition) per square foot	
kg/cm2	mass per area	10000	kg.cm-2;kilogram per square centimetre	KiloGM-PER-CentiM2;D5
KiloGM-PER-DAY-BAR	thruster power to thrust efficiency	1/8640000000	kg/(d.bar);kg.d-1.bar-1;kilogram per day bar	F66
KiloGM-PER-MIN-BAR	thruster power to thrust efficiency	1/6000000	kg/(min.bar);kg.min-1.bar-1;kilogram per minute bar	F68
KiloGM-PER-SEC-BAR	thruster power to thrust efficiency	1/100000	kg/(s.bar);kg.s-1.bar-1;kilogram per second bar	F69
kgf.m/s	power	196133/20000	kgf.m.s-1;kilo gram force metre per second	KiloGM_F-M-PER-SEC;B39
klbf.ft/lbm	absorbed dose	74726673/25000	k[lbf_av].[ft_i].[lb_av]-1;kilo pound force foot per pound mass	KiloLB_F-FT-PER-LB;G20
kmol/kg	amount of substance per mass	1000	kmol.kg-1;kilomole per kilogram	KiloMOL-PER-KiloGM;P47
LB-MIN-PER-FT3-IN3	A0E0L-6I0M1H0T1D0	2214806494140625000000/37762856232201	lbm.min/(ft3.in3);[lb_av].min.[ft_i]-3.[in_i]-3;pound mass minute per cubic foot cubic inch;LB-MIN-PER-IN3-FT3;lbm.min/(in3.ft3);[lb_av].min.[in_i]-3.[ft_i]-3;pound mass minute per cubic inch cubic foot	
LB-MIN-PER-FT3-YD3	A0E0L-6I0M1H0T1D0	34606351470947265625/27529122193274529	lbm.min/(ft3.yd3);[lb_av].min.[ft_i]-3.[yd_i]-3;pound mass minute per cubic foot cubic yard	
LB-MIN-PER-GAL_UK2	A0E0L-6I0M1H0T1D0	272155422000000000/206669342881	lbm.min/gal{UK}2;[lb_av].min.[gal_br]-2;pound mass minute per square gallon (uk)	
LB-MIN-PER-GAL_US2	A0E0L-6I0M1H0T1D0	1840878125000000000000/969246643293159	lbm.min/gal{US}2;[lb_av].min.[gal_us]-2;pound mass minute per square us gallon	
LB-MIN-PER-IN3-YD3	A0E0L-6I0M1H0T1D0	2214806494140625000000/1019597118269427	lbm.min/(in3.yd3);[lb_av].min.[in_i]-3.[yd_i]-3;pound mass minute per cubic inch cubic yard	
LB-PER-FT-LB_F-SEC	A0E0L-2I0M0H0T1D0	25000000/74726673	lbm/(ft.lbf.s);[lb_av].[ft_i]-1.[lbf_av]-1.s-1;pound mass per foot pound force second	
LB-SEC-PER-FT3-IN3	A0E0L-6I0M1H0T1D0	110740324707031250000/113288568696603	lbm.s/(ft3.in3);[lb_av].s.[ft_i]-3.[in_i]-3;pound mass second per cubic foot cubic inch;LB-SEC-PER-IN3-FT3;lbm.s/(in3.ft3);[lb_av].s.[in_i]-3.[ft_i]-3;pound mass second per cubic inch cubic foot	
LB-SEC-PER-FT3-YD3	A0E0L-6I0M1H0T1D0	6921270294189453125/330349466319294348	lbm.s/(ft3.yd3);[lb_av].s.[ft_i]-3.[yd_i]-3;pound mass second per cubic foot cubic yard	
LB-SEC-PER-GAL_UK2	A0E0L-6I0M1H0T1D0	4535923700000000/206669342881	lbm.s/gal{UK}2;[lb_av].s.[gal_br]-2;pound mass second per square gallon (uk)	
LB-SEC-PER-GAL_US2	A0E0L-6I0M1H0T1D0	92043906250000000000/2907739929879477	lbm.s/gal{US}2;[lb_av].s.[gal_us]-2;pound mass second per square us gallon	
LB-SEC-PER-IN3-YD3	A0E0L-6I0M1H0T1D0	110740324707031250000/3058791354808281	lbm.s/(in3.yd3);[lb_av].s.[in_i]-3.[yd_i]-3;pound mass second per cubic inch cubic yard	
LB_F-PER-IN2-DEG_F	pressure coefficient	80067989074689/6451600000	lbf/(in2.°F);[lbf_av].[in_i]-2.[degF]-1;pound force per square inch degree fahrenheit	K86
MOL-PER-KiloGM-BAR	amount of substance per mass pressure	1/100000	mol/(kg.bar);mol.kg-1.bar-1;mole per kilogram bar	L25
uBq/kg	specific activity	1/1000000	uBq.kg-1;microbecquerel per kilogram	MicroBQ-PER-KiloGM
uGal/m	angular acceleration	1/100000000	uGal.m-1;microgalileo per metre	MicroGALILEO-PER-M
MicroGM-PER-GM-DAY	frequency	1/86400000000	ug/(g.d);ug.g-1.d-1;microgram per gram day;MilliGM-PER-KiloGM-DAY;mg/(kg.d);mg.kg-1.d-1;milligram per kilogram day	
MicroGM-PER-M2-DAY	mass per area time	1/86400000000000	ug/(m2.d);ug.m-2.d-1;microgram per square metre day	
MicroGM-PER-M3-BAR	mass per energy	1/100000000000000	ug/(m3.bar);ug.m-3.bar-1;microgram per cubic metre bar	J35
MicroMOL-PER-GM-HR	biogeochemical rate	1/3600000	umol/(g.h);umol.g-1.h-1;micromole per gram hour	
MicroMOL-PER-M2-HR	photon flux	1/3600000000	umol/(m2.h);umol.m-2.h-1;micromole per square metre hour	
mBq/kg	specific activity	1/1000	mBq.kg-1;millibecquerel per kilogram	MilliBQ-PER-KiloGM
MilliBQ-PER-M2-DAY	A0E0L-2I0M0H0T-2D0	1/86400000	mBq/(m2.d);mBq.m-2.d-1;millibecquerel per square metre day	
mg.min/m6	A0E0L-6I0M1H0T1D0	3/50000	mg.min.m-6;milligram minute per sextic metre	MilliGM-MIN-PER-M6
MilliGM-PER-HR-BAR	thruster power to thrust efficiency	1/360000000000000	mg/(h.bar);mg.h-1.bar-1;milligram per hour bar	F71
MilliGM-PER-M2-DAY	mass per area time	1/86400000000	mg/(m2.d);mg.m-2.d-1;milligram per square metre day	
MilliGM-PER-M2-SEC	mass per area time	1/1000000	mg/(m2.s);mg.m-2.s-1;milligram per square metre second	
MilliGM-PER-M3-BAR	mass per energy	1/100000000000	mg/(m3.bar);mg.m-3.bar-1;milligram per cubic metre bar	L18
MilliGM-PER-M3-SEC	mass concentration rate of change	1/1000000	mg/(m3.s);mg.m-3.s-1;milligram per cubic metre second	
mg.s/m6	A0E0L-6I0M1H0T1D0	1/1000000	mg.s.m-6;milligram second per sextic metre	MilliGM-SEC-PER-M6
MilliL-PER-DAY-BAR	A0E0L4I0M-1H0T1D0	1/8640000000000000	mL/(d.bar);mL.d-1.bar-1;millilitre per day bar;CentiM3-PER-DAY-BAR;cm3/(d.bar);cm3.d-1.bar-1;cubic centimetre per day bar	G90;G78
MilliL-PER-MIN-BAR	A0E0L4I0M-1H0T1D0	1/6000000000000	mL/(min.bar);mL.min-1.bar-1;millilitre per minute bar;CentiM3-PER-MIN-BAR;cm3/(min.bar);cm3.min-1.bar-1;cubic centimetre per minute bar	G92;G80
MilliL-PER-SEC-BAR	A0E0L4I0M-1H0T1D0	1/100000000000	mL/(s.bar);mL.s-1.bar-1;millilitre per second bar;CentiM3-PER-SEC-BAR;cm3/(s.bar);cm3.s-1.bar-1;cubic centimetre per second bar	G93;G81
mm3/kg	specific volume	1/1000000000	mm3.kg-1;cubic millimetre per kilogram	MilliM3-PER-KiloGM
MilliMOL-PER-M2-HR	photon flux	1/3600000	mmol/(m2.h);mmol.m-2.h-1;millimole per square metre hour	
Nm3	NCM_1ATM_0DEG_C_NL alone	1		normal cubic metre;NCM_1ATM_0DEG_C_NL
ng/cm2	mass per area	1/100000000	ng.cm-2;nanogram per square centimetre	NanoGM-PER-CentiM2
NanoMOL-PER-GM-SEC	biogeochemical rate	1/1000000	nmol/(g.s);nmol.g-1.s-1;nanomole per gram second	
nmol/kg	amount of substance per mass	1/1000000000	nmol.kg-1;nanomole per kilogram	NanoMOL-PER-KiloGM
NanoMOL-PER-M2-DAY	photon flux	1/86400000000000	nmol/(m2.d);nmol.m-2.d-1;nanomole per square metre day	
OZ-MIN-PER-IN3-FT3	A0E0L-6I0M1H0T1D0	138425405883789062500/37762856232201	oz.min/(in3.ft3);[oz_av].min.[in_i]-3.[ft_i]-3;ounce mass minute per cubic inch cubic foot	
OZ-MIN-PER-IN3-YD3	A0E0L-6I0M1H0T1D0	138425405883789062500/1019597118269427	oz.min/(in3.yd3);[oz_av].min.[in_i]-3.[yd_i]-3;ounce mass minute per cubic inch cubic yard	
OZ-SEC-PER-IN3-FT3	A0E0L-6I0M1H0T1D0	6921270294189453125/113288568696603	oz.s/(in3.ft3);[oz_av].s.[in_i]-3.[ft_i]-3;ounce mass second per cubic inch cubic foot	
OZ-SEC-PER-IN3-YD3	A0E0L-6I0M1H0T1D0	6921270294189453125/3058791354808281	oz.s/(in3.yd3);[oz_av].s.[in_i]-3.[yd_i]-3;ounce mass second per cubic inch cubic yard	
%.h/ft3	spectral density of vibrational modes	7812500000/6145149	%.h.[ft_i]-3;percent hour per cubic foot	PERCENT-HR-PER-FT3
%.h/in3	spectral density of vibrational modes	4500000000000/2048383	%.h.[in_i]-3;percent hour per cubic inch	PERCENT-HR-PER-IN3
%.h/yd3	spectral density of vibrational modes	7812500000/165919023	%.h.[yd_i]-3;percent hour per cubic yard	PERCENT-HR-PER-YD3
%.min/m3	spectral density of vibrational modes	3/5	%.min.m-3;percent minute per cubic metre	PERCENT-MIN-PER-M3
%/mm	inverse length	10	%.mm-1;percent per millimetre	PERCENT-PER-MilliM;J10
PERCENT-PER-PA-SEC	fluidity	1/100	%/(Pa.s);%.Pa-1.s-1;percent per pascal second	
%.s/m3	spectral density of vibrational modes	1/100	%.s.m-3;percent second per cubic metre	PERCENT-SEC-PER-M3
pmol/kg	amount of substance per mass	1/1000000000000	pmol.kg-1;picomole per kilogram	PicoMOL-PER-KiloGM
PicoMOL-PER-M2-DAY	photon flux	1/86400000000000000	pmol/(m2.d);pmol.m-2.d-1;picomole per square metre day	
PicoMOL-PER-M3-SEC	catalytic activity concentration	1/1000000000000	pmol/(m3.s);pmol.m-3.s-1;picomole per cubic metre second	
SUSCEPTIBILITY_MAG	SUSCEPTIBILITY_MAG alone	1	magnetic susceptibility unit	χ
BTU_IT-PER-LB-DEG_F	specific heat capacity	189910080000/45359237	Btu{IT}/(lbm.°F);[Btu_IT].[lb_av]-1.[degF]-1;british thermal unit (international definition) per pound mass degree fahrenheit;BTU_IT-PER-LB-DEG_R;Btu{IT}/(lbm.°R);[Btu_IT].[lb_av]-1.[degR]-1;british thermal unit (international definition) per pound mass degree rankine	
BTU_TH-PER-LB-DEG_F	specific heat capacity	2092000000022046226218487758072297/500000000000000000000000000000	Btu{th}/(lbm.°F);[Btu_th].[lb_av]-1.[degF]-1;british thermal unit (thermochemical definition) per pound mass degree fahrenheit	J50
BTU_TH-PER-LB-DEG_R	specific heat capacity	2092000000022046058858487756308613/500000000000000000000000000000	Btu{th}/(lbm.°R);[Btu_th].[lb_av]-1.[degR]-1;british thermal unit (thermochemical definition) per pound mass degree rankine	
CentiM3-PER-MOL-SEC	atmospheric hydroxylation rate	1/1000000	cm3/(mol.s);cm3.mol-1.s-1;cubic centimetre per mole second	
cmol/kg	amount of substance per mass	1/100	cmol.kg-1;centimole per kilogram;mEq/hg;mEQ.hg-1;milliequivalent per hectogram	CentiMOL-PER-KiloGM;MilliEQ-PER-HectoGM
DEG_C-KiloGM-PER-M2	A0E0L-2I0M1H1T0D0	1	°C.kg/m2;Cel.kg.m-2;degree celsius kilogram per square metre	
DEG_F-HR-PER-BTU_IT	thermal resistance	125000/65941	°F.h/Btu{IT};[degF].h.[Btu_IT]-1;degree fahrenheit hour per british thermal unit (international definition)	N84
DEG_F-HR-PER-BTU_TH	thermal resistance	1896902829486604638680773053478947/1000000000000000000000000000000000	°F.h/Btu{th};[degF].h.[Btu_th]-1;degree fahrenheit hour per british thermal unit (thermochemical definition)	N85
dyn.s/cm5	pressure in relation to volume flow rate	100000	dyn.s.cm-5;dyne second per quintic centimetre	DYN-SEC-PER-CentiM5;A52
abF/cm	permittivity	100000000000	GF.cm-1;abfarad per centimetre	FARAD_Ab-PER-CentiM
FT-LB_F-PER-FT2-SEC	irradiance	8896443230521/609600000000	ft.lbf/(ft2.s);[ft_i].[lbf_av].[ft_i]-2.s-1;foot pound force per square foot second	
fmol/kg	amount of substance per mass	1/1000000000000000	fmol.kg-1;femtomole per kilogram	FemtoMOL-PER-KiloGM
GM-HR-PER-L-CentiM3	A0E0L-6I0M1H0T1D0	3600000000	g.h/(L.cm3);g.h.L-1.cm-3;gram hour per litre cubic centimetre	
GM-PER-L-CentiPOISE	A0E0L-2I0M0H0T1D0	1000	g/(L.cP);g.L-1.cP-1;gram per litre centipoise;GM-PER-L-MilliPA-SEC;g/(L.mPa.s);g.L-1.mPa-1.s-1;gram per litre millipascal second	
K-M2-PER-KiloGM-SEC	A0E0L2I0M-1H1T-1D0	1	K.m2/(kg.s);K.m2.kg-1.s-1;kelvin square metre per kilogram second	
kcal/cm2	energy per area	41840000	kcal.cm-2;kilocalorie per square centimetre	KiloCAL-PER-CentiM2
KiloCAL_IT-PER-GM-K	specific heat capacity	4186800	kcal{IT}/(g.K);kcal_IT.g-1.K-1;kilo international table calorie per gram kelvin	N65
ug/cm2	mass per area	1/100000	ug.cm-2;microgram per square centimetre	MicroGM-PER-CentiM2
MicroMOL-PER-GM-SEC	biogeochemical rate	1/1000	umol/(g.s);umol.g-1.s-1;micromole per gram second	
MicroMOL-PER-M2-DAY	photon flux	1/86400000000	umol/(m2.d);umol.m-2.d-1;micromole per square metre day	
uS2/cm2	conductivity variance	1/100000000	uS2.cm-2;square microsiemens per square centimetre	MicroS2-PER-CentiM2
mA.in2/lbf	A0E1L1I0M-1H0T2D0	1290320/8896443230521	mA.[in_i]2.[lbf_av]-1;milliampere square inch per pound force	MilliA-IN2-PER-LB_F;F57
MilliA-PER-LB_F-IN2	A0E1L-3I0M-1H0T2D0	50000000000000000/143490732865073209	mA/(lbf.in2);mA.[lbf_av]-1.[in_i]-2;milliampere per pound force square inch	
mGal/mo	A0E0L1I0M0H0T-3D0	489918846612702035163963625264263/125000000000000000000000000000000000000000000	mGal.mo-1;milligalileo per month	MilliGALILEO-PER-MO
mg/cm2	mass per area	1/100	mg.cm-2;milligram per square centimetre	MilliGM-PER-CentiM2;H63
MilliGM-PER-DAY-BAR	thruster power to thrust efficiency	1/8640000000000000	mg/(d.bar);mg.d-1.bar-1;milligram per day bar	F70
MilliGM-PER-MIN-BAR	thruster power to thrust efficiency	1/6000000000000	mg/(min.bar);mg.min-1.bar-1;milligram per minute bar	F72
MilliGM-PER-SEC-BAR	thruster power to thrust efficiency	1/100000000000	mg/(s.bar);mg.s-1.bar-1;milligram per second bar	F73
MilliMOL-PER-M2-DAY	photon flux	1/86400000	mmol/(m2.d);mmol.m-2.d-1;millimole per square metre day	
MilliMOL-PER-M3-DAY	catalytic activity concentration	1/86400000	mmol/(m3.d);mmol.m-3.d-1;millimole per cubic metre day	
mOsmol/kg	MilliOSM-PER-KiloGM alone	1	mOsmol.kg-1;milliosmole per kilogram	MilliOSM-PER-KiloGM
ohm.cmil/ft	resistivity	831213090551181102362204724409449/500000000000000000000000000000000000000000	Ohm.[cml_i].[ft_i]-1;ohm circular mil per foot	OHM-MIL_Circ-PER-FT
OZ-FT-HR-PER-IN3-LB	A0E0L-2I0M0H0T1D0	67500000000/16129	oz.ft.h/(in3.lbm);[oz_av].[ft_i].h.[in_i]-3.[lb_av]-1;ounce mass foot hour per cubic inch pound mass	
%.min/ft3	spectral density of vibrational modes	390625000/18435447	%.min.[ft_i]-3;percent minute per cubic foot	PERCENT-MIN-PER-FT3
%.min/in3	spectral density of vibrational modes	75000000000/2048383	%.min.[in_i]-3;percent minute per cubic inch	PERCENT-MIN-PER-IN3
%.min/yd3	spectral density of vibrational modes	390625000/497757069	%.min.[yd_i]-3;percent minute per cubic yard	PERCENT-MIN-PER-YD3
%/100	PERCENT-PER-HUNDRED alone	1/10000	percent per hundred	PERCENT-PER-HUNDRED;H93
%.s/ft3	spectral density of vibrational modes	19531250/55306341	%.s.[ft_i]-3;percent second per cubic foot	PERCENT-SEC-PER-FT3
%.s/in3	spectral density of vibrational modes	1250000000/2048383	%.s.[in_i]-3;percent second per cubic inch	PERCENT-SEC-PER-IN3
%.s/yd3	spectral density of vibrational modes	19531250/1493271207	%.s.[yd_i]-3;percent second per cubic yard	PERCENT-SEC-PER-YD3
PERMEABILITY_EM_REL	PERMEABILITY_EM_REL alone	1	[mu_0];relative electromagnetic permeability	uₜ
PicoMOL-PER-M-W-SEC	A1E0L-3I0M-1H0T2D0	1/1000000000000	pmol/(m.W.s);pmol.m-1.W-1.s-1;picomole per metre watt second	
PicoW-PER-CentiM2-L	A0E0L-3I0M1H0T-3D0	1/100000	pW/(cm2.L);pW.cm-2.L-1;picowatt per square centimetre litre	
planckangularfrequency	rotation	18548700000000000000000000000000000000000000	planck angular frequency	PlanckFrequency_Ang
Sm3	SCM_1ATM_15DEG_C_NL alone	1		standard cubic metre;SCM_1ATM_15DEG_C_NL
SPIN_QUANTUM_NUMBER	SPIN_QUANTUM_NUMBER alone	1	spin quantum number	Q
SUSCEPTIBILITY_ELEC	SUSCEPTIBILITY_ELEC alone	1	electric susceptibility unit	χ
TON_SHORT-PER-DEG_F	A0E0L0I0M1H-1T0D0	408233133/250000	ton{short}/°F;[ston_av].[degF]-1;short ton per degree fahrenheit	L87
CAL_TH-PER-CentiM3-K	pressure coefficient	4184000	cal/(cm3.K);cal_th.cm-3.K-1;thermochemical calorie per cubic centimetre kelvin	
DEG_F-SEC-PER-BTU_IT	thermal resistance	625/1186938	°F.s/Btu{IT};[degF].s.[Btu_IT]-1;degree fahrenheit second per british thermal unit (international definition)	N86
DEG_F-SEC-PER-BTU_TH	thermal resistance	5269174526351679551891036259663741/10000000000000000000000000000000000000	°F.s/Btu{th};[degF].s.[Btu_th]-1;degree fahrenheit second per british thermal unit (thermochemical definition)	N87
GM-MIN-PER-L-CentiM3	A0E0L-6I0M1H0T1D0	60000000	g.min/(L.cm3);g.min.L-1.cm-3;gram minute per litre cubic centimetre	
GM-SEC-PER-L-CentiM3	A0E0L-6I0M1H0T1D0	1000000	g.s/(L.cm3);g.s.L-1.cm-3;gram second per litre cubic centimetre	
GM_Carbon-PER-M2-DAY	mass per area time	1157407407407407407407407407407407/100000000000000000000000000000000000000000	g{carbon}/(m2.day);g.m-2.d-1{C};gram of carbon per square metre day;GM_Nitrogen-PER-M2-DAY;g{nitrogen}/(m2.day);g.m-2.d-1{N};gram of nitrogen per square metre day	
KiloCAL-PER-GM-DEG_C	specific heat capacity	4184000	kcal/(g.°C);kcal.g-1.Cel-1;kilocalorie per gram degree celsius	
KiloGM-PER-CentiM3-K	A0E0L-3I0M1H-1T0D0	1000000	kg/(cm3.K);kg.cm-3.K-1;kilogram per cubic centimetre kelvin	G38
kgf/mm2	pressure	9806650	kgf.mm-2;kilo gram force per square millimetre	KiloGM_F-PER-MilliM2;E41
LB-HR-PER-FT3-GAL_UK	A0E0L-6I0M1H0T1D0	35436903906250000000/2793640041741	lbm.h/(ft3.gal{UK});[lb_av].h.[ft_i]-3.[gal_br]-1;pound mass hour per cubic foot gallon (uk);LB-HR-PER-GAL_UK-FT3;lbm.h/(gal{UK}.ft3);[lb_av].h.[gal_br]-1.[ft_i]-3;pound mass hour per gallon (uk) cubic foot	
LB-HR-PER-FT3-GAL_US	A0E0L-6I0M1H0T1D0	575274414062500000000/37762856232201	lbm.h/(ft3.gal{US});[lb_av].h.[ft_i]-3.[gal_us]-1;pound mass hour per cubic foot us gallon;LB-HR-PER-GAL_US-FT3;lbm.h/(gal{US}.ft3);[lb_av].h.[gal_us]-1.[ft_i]-3;pound mass hour per us gallon cubic foot	
LB-HR-PER-GAL_UK-IN3	A0E0L-6I0M1H0T1D0	20411656650000000000000/931213347247	lbm.h/(gal{UK}.in3);[lb_av].h.[gal_br]-1.[in_i]-3;pound mass hour per gallon (uk) cubic inch;LB-HR-PER-IN3-GAL_UK;lbm.h/(in3.gal{UK});[lb_av].h.[in_i]-3.[gal_br]-1;pound mass hour per cubic inch gallon (uk)	
LB-HR-PER-GAL_UK-YD3	A0E0L-6I0M1H0T1D0	35436903906250000000/75428281127007	lbm.h/(gal{UK}.yd3);[lb_av].h.[gal_br]-1.[yd_i]-3;pound mass hour per gallon (uk) cubic yard	
LB-HR-PER-GAL_US-IN3	A0E0L-6I0M1H0T1D0	110452687500000000000000/4195872914689	lbm.h/(gal{US}.in3);[lb_av].h.[gal_us]-1.[in_i]-3;pound mass hour per us gallon cubic inch;LB-HR-PER-IN3-GAL_US;lbm.h/(in3.gal{US});[lb_av].h.[in_i]-3.[gal_us]-1;pound mass hour per cubic inch us gallon	
LB-HR-PER-GAL_US-YD3	A0E0L-6I0M1H0T1D0	575274414062500000000/1019597118269427	lbm.h/(gal{US}.yd3);[lb_av].h.[gal_us]-1.[yd_i]-3;pound mass hour per us gallon cubic yard	
MicroMOL-PER-M2-SEC2	A1E0L-2I0M0H0T-2D0	1/1000000	umol/(m2.s2);umol.m-2.s-2;micromole per square metre square second	
MilliGM-PER-M3-POISE	A0E0L-2I0M0H0T1D0	1/100000	mg/(m3.P);mg.m-3.P-1;milligram per cubic metre poise	
NanoM-PER-CentiM-PSI	compressibility	16129/1112055403815125	nm/(cm.psi);nm.cm-1.[psi]-1;nanometre per centimetre psi	
OZ-FT-SEC-PER-IN3-LB	A0E0L-2I0M0H0T1D0	18750000/16129	oz.ft.s/(in3.lbm);[oz_av].[ft_i].s.[in_i]-3.[lb_av]-1;ounce mass foot second per cubic inch pound mass	
OZ-HR-PER-IN3-GAL_UK	A0E0L-6I0M1H0T1D0	1275728540625000000000/931213347247	oz.h/(in3.gal{UK});[oz_av].h.[in_i]-3.[gal_br]-1;ounce mass hour per cubic inch gallon (uk)	
OZ-HR-PER-IN3-GAL_US	A0E0L-6I0M1H0T1D0	6903292968750000000000/4195872914689	oz.h/(in3.gal{US});[oz_av].h.[in_i]-3.[gal_us]-1;ounce mass hour per cubic inch us gallon	
%.ft.h/lbm	fluidity	1097280000/45359237	%.[ft_i].h.[lb_av]-1;percent foot hour per pound mass	PERCENT-FT-HR-PER-LB
%/hbar	compressibility	1/1000000000	%.hbar-1;percent per hectobar	PERCENT-PER-HectoBAR;H72
%/1000	PERCENT-PER-THOUSAND alone	1/100000	percent per thousand	PERCENT-PER-THOUSAND;H94
PicoA-PER-MicroMOL-L	A-1E1L-3I0M0H0T0D0	1/1000	pA/(umol.L);pA.umol-1.L-1;picoampere per micromole litre	
planckcurrentdensity	electric current density	133177400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	planck current density	PlanckCurrentDensity
SCM_1ATM_15DEG_C_ISO	SCM_1ATM_15DEG_C_ISO alone	1		standard cubic metre
TON_SHORT-PER-HR-PSI	thruster power to thrust efficiency	16129/441299250	ton{short}/(h.psi);[ston_av].h-1.[psi]-1;short ton per hour psi	L90
BTU_IT-PER-LB_F-DEG_F	linear thermal expansion	3798201600000000/8896443230521	Btu{IT}/(lbf.°F);[Btu_IT].[lbf_av]-1.[degF]-1;british thermal unit (international definition) per pound force degree fahrenheit;BTU_IT-PER-LB_F-DEG_R;Btu{IT}/(lbf.°R);[Btu_IT].[lbf_av]-1.[degR]-1;british thermal unit (international definition) per pound force degree rankine	J43;A21
DEGREE_BAUME_US_HEAVY	DEGREE_BAUME_US_HEAVY alone	1	°Bé{US Heavy};degree baume (us heavy)	J15
DEGREE_BAUME_US_LIGHT	DEGREE_BAUME_US_LIGHT alone	1	°Bé{US Light};degree baume (us light)	J16
KiloCAL-PER-MOL-DEG_C	molar heat capacity	4184	kcal/(mol.°C);kcal.mol-1.Cel-1;kilocalorie per mole degree celsius	
kg.cm/s	linear momentum	1/100	kg.cm.s-1;kilogram centimetre per second	KiloGM-CentiM-PER-SEC;M98
KiloGM-PER-MegaBTU_IT	mass per energy	1/1055056000	kg/MBtu{IT};kg.M[Btu_IT]-1;kilogram per mega british thermal unit (international definition)	
LB-MIN-PER-FT3-GAL_UK	A0E0L-6I0M1H0T1D0	1771845195312500000/8380920125223	lbm.min/(ft3.gal{UK});[lb_av].min.[ft_i]-3.[gal_br]-1;pound mass minute per cubic foot gallon (uk);LB-MIN-PER-GAL_UK-FT3;lbm.min/(gal{UK}.ft3);[lb_av].min.[gal_br]-1.[ft_i]-3;pound mass minute per gallon (uk) cubic foot	
LB-MIN-PER-FT3-GAL_US	A0E0L-6I0M1H0T1D0	28763720703125000000/113288568696603	lbm.min/(ft3.gal{US});[lb_av].min.[ft_i]-3.[gal_us]-1;pound mass minute per cubic foot us gallon;LB-MIN-PER-GAL_US-FT3;lbm.min/(gal{US}.ft3);[lb_av].min.[gal_us]-1.[ft_i]-3;pound mass minute per us gallon cubic foot	
LB-MIN-PER-GAL_UK-IN3	A0E0L-6I0M1H0T1D0	340194277500000000000/931213347247	lbm.min/(gal{UK}.in3);[lb_av].min.[gal_br]-1.[in_i]-3;pound mass minute per gallon (uk) cubic inch;LB-MIN-PER-IN3-GAL_UK;lbm.min/(in3.gal{UK});[lb_av].min.[in_i]-3.[gal_br]-1;pound mass minute per cubic inch gallon (uk)	
LB-MIN-PER-GAL_UK-YD3	A0E0L-6I0M1H0T1D0	1771845195312500000/226284843381021	lbm.min/(gal{UK}.yd3);[lb_av].min.[gal_br]-1.[yd_i]-3;pound mass minute per gallon (uk) cubic yard	
LB-MIN-PER-GAL_US-IN3	A0E0L-6I0M1H0T1D0	1840878125000000000000/4195872914689	lbm.min/(gal{US}.in3);[lb_av].min.[gal_us]-1.[in_i]-3;pound mass minute per us gallon cubic inch;LB-MIN-PER-IN3-GAL_US;lbm.min/(in3.gal{US});[lb_av].min.[in_i]-3.[gal_us]-1;pound mass minute per cubic inch us gallon	
LB-MIN-PER-GAL_US-YD3	A0E0L-6I0M1H0T1D0	28763720703125000000/3058791354808281	lbm.min/(gal{US}.yd3);[lb_av].min.[gal_us]-1.[yd_i]-3;pound mass minute per us gallon cubic yard	
LB-SEC-PER-FT3-GAL_UK	A0E0L-6I0M1H0T1D0	88592259765625000/25142760375669	lbm.s/(ft3.gal{UK});[lb_av].s.[ft_i]-3.[gal_br]-1;pound mass second per cubic foot gallon (uk);LB-SEC-PER-GAL_UK-FT3;lbm.s/(gal{UK}.ft3);[lb_av].s.[gal_br]-1.[ft_i]-3;pound mass second per gallon (uk) cubic foot	
LB-SEC-PER-FT3-GAL_US	A0E0L-6I0M1H0T1D0	1438186035156250000/339865706089809	lbm.s/(ft3.gal{US});[lb_av].s.[ft_i]-3.[gal_us]-1;pound mass second per cubic foot us gallon;LB-SEC-PER-GAL_US-FT3;lbm.s/(gal{US}.ft3);[lb_av].s.[gal_us]-1.[ft_i]-3;pound mass second per us gallon cubic foot	
LB-SEC-PER-GAL_UK-IN3	A0E0L-6I0M1H0T1D0	5669904625000000000/931213347247	lbm.s/(gal{UK}.in3);[lb_av].s.[gal_br]-1.[in_i]-3;pound mass second per gallon (uk) cubic inch;LB-SEC-PER-IN3-GAL_UK;lbm.s/(in3.gal{UK});[lb_av].s.[in_i]-3.[gal_br]-1;pound mass second per cubic inch gallon (uk)	
LB-SEC-PER-GAL_UK-YD3	A0E0L-6I0M1H0T1D0	88592259765625000/678854530143063	lbm.s/(gal{UK}.yd3);[lb_av].s.[gal_br]-1.[yd_i]-3;pound mass second per gallon (uk) cubic yard	
LB-SEC-PER-GAL_US-IN3	A0E0L-6I0M1H0T1D0	92043906250000000000/12587618744067	lbm.s/(gal{US}.in3);[lb_av].s.[gal_us]-1.[in_i]-3;pound mass second per us gallon cubic inch;LB-SEC-PER-IN3-GAL_US;lbm.s/(in3.gal{US});[lb_av].s.[in_i]-3.[gal_us]-1;pound mass second per cubic inch us gallon	
LB-SEC-PER-GAL_US-YD3	A0E0L-6I0M1H0T1D0	1438186035156250000/9176374064424843	lbm.s/(gal{US}.yd3);[lb_av].s.[gal_us]-1.[yd_i]-3;pound mass second per us gallon cubic yard	
MicroMOL2-PER-M4-SEC2	molar flux density variance	1/1000000000000	umol2/(m4.s2);umol2.m-4.s-2;square micromole per quartic metre square second	
MilliGM-PER-M3-PA-SEC	A0E0L-2I0M0H0T1D0	1/1000000	mg/(m3.Pa.s);mg.m-3.Pa-1.s-1;milligram per cubic metre pascal second	
NUM-PER-CentiM-KiloYR	A0E0L-1I0M0H0T-1D0	1/315576000	#/(cm.ka);{#}.cm-1.ka-1;number per centimetre kiloyear	
OZ-MIN-PER-IN3-GAL_UK	A0E0L-6I0M1H0T1D0	21262142343750000000/931213347247	oz.min/(in3.gal{UK});[oz_av].min.[in_i]-3.[gal_br]-1;ounce mass minute per cubic inch gallon (uk)	
OZ-MIN-PER-IN3-GAL_US	A0E0L-6I0M1H0T1D0	115054882812500000000/4195872914689	oz.min/(in3.gal{US});[oz_av].min.[in_i]-3.[gal_us]-1;ounce mass minute per cubic inch us gallon	
OZ-SEC-PER-IN3-GAL_UK	A0E0L-6I0M1H0T1D0	354369039062500000/931213347247	oz.s/(in3.gal{UK});[oz_av].s.[in_i]-3.[gal_br]-1;ounce mass second per cubic inch gallon (uk)	
OZ-SEC-PER-IN3-GAL_US	A0E0L-6I0M1H0T1D0	5752744140625000000/12587618744067	oz.s/(in3.gal{US});[oz_av].s.[in_i]-3.[gal_us]-1;ounce mass second per cubic inch us gallon	
%.ft.s/lbm	fluidity	304800/45359237	%.[ft_i].s.[lb_av]-1;percent foot second per pound mass	PERCENT-FT-SEC-PER-LB
PERCENT-HR-PER-GAL_UK	spectral density of vibrational modes	3600000000/454609	%.h/gal{UK};%.h.[gal_br]-1;percent hour per gallon (uk)	
PERCENT-HR-PER-GAL_US	spectral density of vibrational modes	1500000000000/157725491	%.h/gal{US};%.h.[gal_us]-1;percent hour per us gallon	
CAL_TH-PER-CentiM2-MIN	irradiance	2092/3	cal/(cm2.min);cal_th.cm-2.min-1;thermochemical calorie per square centimetre minute	N56
CAL_TH-PER-CentiM2-SEC	irradiance	41840	cal/(cm2.s);cal_th.cm-2.s-1;thermochemical calorie per square centimetre second	N57
CASES-PER-KiloINDIV-YR	frequency	633761756280579004740537936978731/20000000000000000000000000000000000000000000	Cases/1000 individuals/year;cases per thousand individuals year;DEATHS-PER-KiloINDIV-YR;deaths/1000 individuals/a;deaths per thousand individuals year	
KiloGM-PER-CentiM3-BAR	mass per energy	10	kg/(cm3.bar);kg.cm-3.bar-1;kilogram per cubic centimetre bar	G16
kgf.m/cm2	energy per area	196133/2	kgf.m.cm-2;kilo gram force metre per square centimetre	KiloGM_F-M-PER-CentiM2;E44
MicroGM-PER-CentiM2-WK	mass per area time	1/60480000000	ug/(cm2.wk);ug.cm-2.wk-1;microgram per square centimetre week	
MicroMOL-PER-KiloGM-YR	biogeochemical rate	1/31557600000000	umol/(kg.a);umol.kg-1.a-1;micromole per kilogram year	
MilliL-PER-CentiM2-MIN	speed	1/6000	mL/(cm2.min);mL.cm-2.min-1;millilitre per square centimetre minute	35
NanoGM-PER-CentiM2-DAY	mass per area time	1/8640000000000	ng/(cm2.d);ng.cm-2.d-1;nanogram per square centimetre day	
NanoMOL-PER-MicroGM-HR	biogeochemical rate	1/3600	nmol/(ug.h);nmol.ug-1.h-1;nanomole per microgram hour	
%.h/cm3	spectral density of vibrational modes	36000000	%.h.cm-3;percent hour per cubic centimetre	PERCENT-HR-PER-CentiM3
PERCENT-MIN-PER-GAL_UK	spectral density of vibrational modes	60000000/454609	%.min/gal{UK};%.min.[gal_br]-1;percent minute per gallon (uk)	
PERCENT-MIN-PER-GAL_US	spectral density of vibrational modes	25000000000/157725491	%.min/gal{US};%.min.[gal_us]-1;percent minute per us gallon	
PERCENT-SEC-PER-GAL_UK	spectral density of vibrational modes	1000000/454609	%.s/gal{UK};%.s.[gal_br]-1;percent second per gallon (uk)	
PERCENT-SEC-PER-GAL_US	spectral density of vibrational modes	1250000000/473176473	%.s/gal{US};%.s.[gal_us]-1;percent second per us gallon	
TON_SHORT-PER-HR-DEG_F	A0E0L0I0M1H-1T-1D0	45359237/100000000	ton{short}/(h.°F);[ston_av].h-1.[degF]-1;short ton per hour degree fahrenheit	L89
BTU_IT-PER-FT2-HR-DEG_F	coefficient of heat transfer	1648525/290322	Btu{IT}/(ft2.h.°F);[Btu_IT].[ft_i]-2.h-1.[degF]-1;british thermal unit (international definition) per square foot hour degree fahrenheit;BTU_IT-PER-HR-FT2-DEG_F;Btu{IT}/(h.ft2.°F);[Btu_IT].h-1.[ft_i]-2.[degF]-1;british thermal unit (international definition) per hour square foot degree fahrenheit;BTU_IT-PER-HR-FT2-DEG_R;Btu{IT}/(h.ft2.°R);[Btu_IT].h-1.[ft_i]-2.[degR]-1;british thermal unit (international definition) per hour square foot degree rankine	N74;A23
BTU_IT-PER-MOL_LB-DEG_F	molar heat capacity	4186799999999999999999999999999999/1000000000000000000000000000000000	Btu{IT}/(lb-mol.°F);[Btu_IT].[mol_lb]-1.[degF]-1;british thermal unit (international definition) per pound mole degree fahrenheit	
BTU_IT-PER-SEC-FT-DEG_R	thermal conductivity	791292/127	Btu{IT}/(s.ft.°R);[Btu_IT].s-1.[ft_i]-1.[degR]-1;british thermal unit (international definition) per second foot degree rankine	A22
BTU_TH-PER-HR-FT2-DEG_F	coefficient of heat transfer	5674465897456100467756491068537693/1000000000000000000000000000000000	Btu{th}/(h.ft2.°F);[Btu_th].h-1.[ft_i]-2.[degF]-1;british thermal unit (thermochemical definition) per hour square foot degree fahrenheit	N75
CAL_IT-PER-SEC-CentiM-K	thermal conductivity	10467/25	cal{IT}/(s.cm.K);cal_IT.s-1.cm-1.K-1;international table calorie per second centimetre kelvin	D71
CAL_TH-PER-SEC-CentiM-K	thermal conductivity	2092/5	cal/(s.cm.K);cal_th.s-1.cm-1.K-1;thermochemical calorie per second centimetre kelvin;CAL_TH-PER-CentiM-SEC-DEG_C;cal/(cm.s.°C);cal_th.cm-1.s-1.Cel-1;thermochemical calorie per centimetre second degree celsius	D38;J78
DEATHS-PER-MegaINDIV-YR	frequency	633761756280579004740537936978731/20000000000000000000000000000000000000000000000	deaths/million individuals/a;deaths per million individuals year	
DEG_F-HR-FT2-PER-BTU_IT	thermal insulance	290322/1648525	°F.h.ft2/Btu{IT};[degF].h.[ft_i]2.[Btu_IT]-1;degree fahrenheit hour square foot per british thermal unit (international definition);FT2-HR-DEG_F-PER-BTU_IT;ft2.h.°F/Btu{IT};[ft_i]2.h.[degF].[Btu_IT]-1;square foot hour degree fahrenheit per british thermal unit (international definition)	J22
DEG_F-HR-FT2-PER-BTU_TH	thermal insulance	1762280394439072102115454062182767/10000000000000000000000000000000000	°F.h.ft2/Btu{th};[degF].h.[ft_i]2.[Btu_th]-1;degree fahrenheit hour square foot per british thermal unit (thermochemical definition)	J19
dB.mW/MHz	DeciB-MilliW-PER-MegaHZ alone	1	dB.mW.MHz-1;decibel milliwatt per megahertz	DeciB-MilliW-PER-MegaHZ;DBM
KiloCAL-PER-CentiM2-MIN	irradiance	2092000/3	kcal/(cm2.min);kcal.cm-2.min-1;kilocalorie per square centimetre minute	
KiloCAL-PER-CentiM2-SEC	irradiance	41840000	kcal/(cm2.s);kcal.cm-2.s-1;kilocalorie per square centimetre second	
LB-FT2-PER-IN3-LB_F-SEC	A0E0L-2I0M0H0T1D0	14400000000/24908891	lbm.ft2/(in3.lbf.s);[lb_av].[ft_i]2.[in_i]-3.[lbf_av]-1.s-1;pound mass square foot per cubic inch pound force second	
LB-IN2-PER-FT3-LB_F-SEC	A0E0L-2I0M0H0T1D0	1562500/672540057	lbm.in2/(ft3.lbf.s);[lb_av].[in_i]2.[ft_i]-3.[lbf_av]-1.s-1;pound mass square inch per cubic foot pound force second	
LB-IN2-PER-IN3-LB_F-SEC	A0E0L-2I0M0H0T1D0	100000000/24908891	lbm.in2/(in3.lbf.s);[lb_av].[in_i]2.[in_i]-3.[lbf_av]-1.s-1;pound mass square inch per cubic inch pound force second	
MeV/c	MegaEV-PER-SpeedOfLight alone	1	MeV.[c]-1;mega electron volt per speed of light	MegaEV-PER-SpeedOfLight
NanoM-PER-CentiM-MegaPA	compressibility	1/10000000000000	nm/(cm.MPa);nm.cm-1.MPa-1;nanometre per centimetre megapascal	
OZ-FT2-PER-IN3-LB_F-SEC	A0E0L-2I0M0H0T1D0	900000000/24908891	oz.ft2/(in3.lbf.s);[oz_av].[ft_i]2.[in_i]-3.[lbf_av]-1.s-1;ounce mass square foot per cubic inch pound force second	
OZ-IN2-PER-IN3-LB_F-SEC	A0E0L-2I0M0H0T1D0	6250000/24908891	oz.in2/(in3.lbf.s);[oz_av].[in_i]2.[in_i]-3.[lbf_av]-1.s-1;ounce mass square inch per cubic inch pound force second	
%.min/cm3	spectral density of vibrational modes	600000	%.min.cm-3;percent minute per cubic centimetre	PERCENT-MIN-PER-CentiM3
%.s/cm3	spectral density of vibrational modes	10000	%.s.cm-3;percent second per cubic centimetre	PERCENT-SEC-PER-CentiM3
BTU_IT-PER-FT2-SEC-DEG_F	coefficient of heat transfer	329705000/16129	Btu{IT}/(ft2.s.°F);[Btu_IT].[ft_i]-2.s-1.[degF]-1;british thermal unit (international definition) per square foot second degree fahrenheit;BTU_IT-PER-SEC-FT2-DEG_F;Btu{IT}/(s.ft2.°F);[Btu_IT].s-1.[ft_i]-2.[degF]-1;british thermal unit (international definition) per second square foot degree fahrenheit;BTU_IT-PER-SEC-FT2-DEG_R;Btu{IT}/(s.ft2.°R);[Btu_IT].s-1.[ft_i]-2.[degR]-1;british thermal unit (international definition) per second square foot degree rankine	N76;A20
BTU_TH-PER-SEC-FT2-DEG_F	coefficient of heat transfer	2042807723084196168392336784673569/100000000000000000000000000000	Btu{th}/(s.ft2.°F);[Btu_th].s-1.[ft_i]-2.[degF]-1;british thermal unit (thermochemical definition) per second square foot degree fahrenheit	
CAL_IT-PER-SEC-CentiM2-K	coefficient of heat transfer	41868	cal{IT}/(s.cm2.K);cal_IT.s-1.cm-2.K-1;international table calorie per second square centimetre kelvin	D72
CAL_TH-PER-SEC-CentiM2-K	coefficient of heat transfer	41840	cal/(s.cm2.K);cal_th.s-1.cm-2.K-1;thermochemical calorie per second square centimetre kelvin	D39
NanoMOL-PER-MicroMOL-DAY	frequency	1/86400000	nmol/(umol.d);nmol.umol-1.d-1;nanomole per micromole day	
PERCENT-FT2-PER-LB_F-SEC	fluidity	1858060800/8896443230521	%.ft2/(lbf.s);%.[ft_i]2.[lbf_av]-1.s-1;percent square foot per pound force second	
PERCENT-IN2-PER-LB_F-SEC	fluidity	12903200/8896443230521	%.in2/(lbf.s);%.[in_i]2.[lbf_av]-1.s-1;percent square inch per pound force second	
%/10000	PERCENT-PER-TEN-THOUSAND alone	1/1000000	percent per ten thousand	PERCENT-PER-TEN-THOUSAND;H91;H92
KiloCAL_IT-PER-HR-M-DEG_C	thermal conductivity	1163/1000	kcal{IT}/(h.m.°C);kcal_IT.h-1.m-1.Cel-1;kilo international table calorie per hour metre degree celsius	K52
BTU_IT-FT-PER-FT2-HR-DEG_F	thermal conductivity	65941/38100	Btu{IT}.ft/(ft2.h.°F);[Btu_IT].[ft_i].[ft_i]-2.h-1.[degF]-1;british thermal unit (international definition) foot per square foot hour degree fahrenheit	J40
BTU_IT-IN-PER-FT2-HR-DEG_F	thermal conductivity	65941/457200	Btu{IT}.in/(ft2.h.°F);[Btu_IT].[in_i].[ft_i]-2.h-1.[degF]-1;british thermal unit (international definition) inch per square foot hour degree fahrenheit;BTU_IT-IN-PER-HR-FT2-DEG_F;Btu{IT}.in/(h.ft2.°F);[Btu_IT].[in_i].h-1.[ft_i]-2.[degF]-1;british thermal unit (international definition) inch per hour square foot degree fahrenheit	J41
BTU_TH-FT-PER-FT2-HR-DEG_F	thermal conductivity	1729577205544619422572178477690289/1000000000000000000000000000000000	Btu{th}.ft/(ft2.h.°F);[Btu_th].[ft_i].[ft_i]-2.h-1.[degF]-1;british thermal unit (thermochemical definition) foot per square foot hour degree fahrenheit;BTU_TH-FT-PER-HR-FT2-DEG_F;Btu{th}.ft/(h.ft2.°F);[Btu_th].[ft_i].h-1.[ft_i]-2.[degF]-1;british thermal unit (thermochemical definition) foot per hour square foot degree fahrenheit	J46
BTU_TH-IN-PER-FT2-HR-DEG_F	thermal conductivity	720657168976924759405074365704287/5000000000000000000000000000000000	Btu{th}.in/(ft2.h.°F);[Btu_th].[in_i].[ft_i]-2.h-1.[degF]-1;british thermal unit (thermochemical definition) inch per square foot hour degree fahrenheit	J48
DEG_F-HR-FT2-PER-BTU_IT-IN	thermal resistivity	457200/65941	°F.h.ft2/(Btu{IT}.in);[degF].h.[ft_i]2.[Btu_IT]-1.[in_i]-1;degree fahrenheit hour square foot per british thermal unit (international definition) inch	N88
DEG_F-HR-FT2-PER-BTU_TH-IN	thermal resistivity	1387622357826041025287759104080919/200000000000000000000000000000000	°F.h.ft2/(Btu{th}.in);[degF].h.[ft_i]2.[Btu_th]-1.[in_i]-1;degree fahrenheit hour square foot per british thermal unit (thermochemical definition) inch	N89
LB-FT2-PER-GAL_UK-LB_F-SEC	A0E0L-2I0M0H0T1D0	185806080000/89163826997	lbm.ft2/(gal{UK}.lbf.s);[lb_av].[ft_i]2.[gal_br]-1.[lbf_av]-1.s-1;pound mass square foot per gallon (uk) pound force second	
LB-FT2-PER-GAL_US-LB_F-SEC	A0E0L-2I0M0H0T1D0	4800000000/1917984607	lbm.ft2/(gal{US}.lbf.s);[lb_av].[ft_i]2.[gal_us]-1.[lbf_av]-1.s-1;pound mass square foot per us gallon pound force second	
LB-IN2-PER-GAL_UK-LB_F-SEC	A0E0L-2I0M0H0T1D0	1290320000/89163826997	lbm.in2/(gal{UK}.lbf.s);[lb_av].[in_i]2.[gal_br]-1.[lbf_av]-1.s-1;pound mass square inch per gallon (uk) pound force second	
LB-IN2-PER-GAL_US-LB_F-SEC	A0E0L-2I0M0H0T1D0	100000000/5753953821	lbm.in2/(gal{US}.lbf.s);[lb_av].[in_i]2.[gal_us]-1.[lbf_av]-1.s-1;pound mass square inch per us gallon pound force second	
M2-HR-DEG_C-PER-KiloCAL_IT	thermal insulance	4299226139294926913155631986242477/5000000000000000000000000000000000	m2.h.°C/kcal{IT};m2.h.Cel.kcal_IT-1;square metre hour degree celsius per kilo international table calorie	L14
BTU_IT-IN-PER-FT2-SEC-DEG_F	thermal conductivity	65941/127	Btu{IT}.in/(ft2.s.°F);[Btu_IT].[in_i].[ft_i]-2.s-1.[degF]-1;british thermal unit (international definition) inch per square foot second degree fahrenheit;BTU_IT-IN-PER-SEC-FT2-DEG_F;Btu{IT}.in/(s.ft2.°F);[Btu_IT].[in_i].s-1.[ft_i]-2.[degF]-1;british thermal unit (international definition) inch per second square foot degree fahrenheit	J42
BTU_TH-IN-PER-FT2-SEC-DEG_F	thermal conductivity	2594365808316929133858267716535433/5000000000000000000000000000000	Btu{th}.in/(ft2.s.°F);[Btu_th].[in_i].[ft_i]-2.s-1.[degF]-1;british thermal unit (thermochemical definition) inch per square foot second degree fahrenheit	
KiloCAL-PER-CentiM-SEC-DEG_C	thermal conductivity	418400	kcal/(cm.s.°C);kcal.cm-1.s-1.Cel-1;kilocalorie per centimetre second degree celsius	
MicroW-PER-CentiM2-MicroM-SR	force per area time	10000	uW/(cm2.um.sr);uW.cm-2.um-1.sr-1;microwatt per square centimetre micrometre steradian	
MilliW-PER-CentiM2-MicroM-SR	force per area time	10000000	mW/(cm2.um.sr);mW.cm-2.um-1.sr-1;milliwatt per square centimetre micrometre steradian	
%/100k	PERCENT-PER-HUNDRED-THOUSAND alone	1/10000000	percent per hundred thousand	PERCENT-PER-HUNDRED-THOUSAND
'''
